package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/truss-dev/truss/internal/cli/reader"
	"github.com/truss-dev/truss/internal/cli/terminal"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// ExitPending is the exit code of `truss trace` for a Bundle that is not Ready
// yet.
const ExitPending = 2

const (
	// defaultRows is the number of resources above which those that are Ready
	// are left out.
	defaultRows = 100
	// messageLines is how many lines of a terminal a message may take in the
	// tree.
	messageLines = 4
)

const traceHelp = `Show how far a Bundle is, and what holds it back.

The tree shows each resource once: below the resource that blocks it or, when
none does, below one that it needs. In a Bundle that is being deleted it is the
other way round. Resources on the critical path, the longest chain of needs,
are marked with "*". Of Bundles with more than 100 resources those that are
Ready are counted and not shown, and of those that only wait a few; --all shows
everything.

With --watch the tree is drawn again on every change until the Bundle is Ready
or has failed; where the output is no terminal, changes are appended as lines.
Errors after which Truss tries again by itself do not end it. A Bundle that is
being deleted is watched until it is gone.

Exit codes:
  0  the Bundle is Ready (with --watch also: its deletion is complete)
  1  the Bundle has failed and Truss does not try again by itself, or the
     command could not do its work
  2  the Bundle is not Ready yet, also when --watch was interrupted`

const traceExamples = `  # What is it waiting for?
  truss trace bundle/shop

  # Wait until it is Ready, in a pipeline
  truss trace bundle/shop --watch --namespace prod

  # The same for a program
  truss trace bdl/shop -o json`

// NewTrace returns `truss trace`.
func NewTrace(p Process) *cobra.Command {
	c, _ := newTrace(p)
	return c
}

func newTrace(p Process) (*cobra.Command, *tracer) {
	t := &tracer{process: p}
	c := &cobra.Command{
		Use:     "trace (bundle/NAME | bundle NAME)",
		Short:   "Show how far a Bundle is, and what holds it back",
		Long:    traceHelp,
		Example: traceExamples,
		Args:    cobra.MaximumNArgs(2),
		RunE:    t.run,
	}
	t.flags = newFlags(c)
	c.ValidArgsFunction = complete(t.flags)
	c.Flags().BoolVarP(&t.watch, "watch", "w", false, "draw again on every change until the Bundle is Ready or has failed")
	c.Flags().BoolVar(&t.all, "all", false, "show every resource, however many there are")
	c.Flags().BoolVar(&t.ascii, "ascii", false, "use nothing but ASCII")
	c.Flags().StringVarP(&t.output, "output", "o", "", "output format: json; with --watch one document per line")
	return c, t
}

// tracer is one call of `truss trace`.
type tracer struct {
	process           Process
	flags             *genericclioptions.ConfigFlags
	watch, all, ascii bool
	output            string

	settings terminal.Settings
	out      io.Writer
}

func (t *tracer) run(c *cobra.Command, args []string) error {
	name, err := parseTarget(args)
	if err != nil {
		return err
	}
	if t.output != "" && t.output != "json" {
		return fmt.Errorf("cannot print as %q: -o takes json", t.output)
	}
	t.out = c.OutOrStdout()
	t.settings = terminal.Detect(t.out, t.process.Getenv)
	cluster, err := reader.Connect(t.flags)
	if err != nil {
		return err
	}
	var verdict trace.Verdict
	if t.watch {
		verdict, err = t.follow(c.Context(), cluster, name)
	} else {
		verdict, err = t.once(c.Context(), cluster, name, c.ErrOrStderr())
	}
	switch {
	case err != nil:
		return err
	case verdict == trace.Failed:
		return errors.New("the Bundle has failed")
	case verdict == trace.Pending:
		t.process.Exit(ExitPending)
	}
	return nil
}

// once prints the Bundle as it is now.
func (t *tracer) once(ctx context.Context, cluster *reader.Cluster, name string, warn io.Writer) (trace.Verdict, error) {
	b, err := cluster.Bundle(ctx, name)
	if err != nil {
		return trace.Pending, err
	}
	plan := trace.NewPlan(b)
	live, warnings := cluster.Children(ctx, b.UID, plan.Kinds(&b.Status))
	for _, w := range warnings {
		fmt.Fprintln(warn, "warning:", terminal.Clean(w.Error(), t.settings.ASCII))
	}
	found := trace.Of(b, plan, live)
	if t.output == "json" {
		return found.Verdict(), found.WriteJSON(t.out, false)
	}
	return found.Verdict(), found.WriteText(t.out, t.options())
}

// options are those of a drawing that is not drawn again.
func (t *tracer) options() trace.Options {
	width, _ := t.settings.Size()
	o := trace.Options{
		Width: width, Rows: defaultRows, MessageLines: messageLines,
		ASCII: t.ascii || t.settings.ASCII, Colour: t.settings.Colour, Now: now(),
	}
	if t.all {
		o.Rows = 0
	}
	return o
}
