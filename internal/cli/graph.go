package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/internal/cli/reader"
	"github.com/truss-dev/truss/internal/cli/terminal"
	"github.com/truss-dev/truss/internal/cli/trace"
)

const graphHelp = `Print the graph of a Bundle: what needs what, and why.

A Bundle of the cluster is shown with the states of its resources. With -f the
Bundles of files are compiled without any cluster, and every mistake in them is
reported at once, one per line with its field; other kinds in the files are
passed over. Give bundle/NAME, too, to pick one Bundle of several.

Formats (-o):
  text     resources by level, each with what it needs (the default)
  dot      for Graphviz:  truss graph bundle/shop -o dot | dot -Tsvg
  mermaid  for Markdown; one Bundle only
  json     nodes and edges; of several Bundles one document after another

Edges are declared or referenced by the author (solid, dashed), or inferred
from what the objects are (dotted). The critical path is marked.

Exit codes: 0 on success, 1 when a Bundle cannot be read or has mistakes.`

const graphExamples = `  # Levels and needs, with states
  truss graph bundle/shop

  # Check Bundles before they are applied
  truss graph -f bundles.yaml
  kustomize build . | truss graph -f -`

// NewGraph returns `truss graph`.
func NewGraph() *cobra.Command {
	g := &grapher{}
	c := &cobra.Command{
		Use:     "graph (bundle/NAME | bundle NAME | -f FILE)",
		Short:   "Print the graph of a Bundle as text, DOT, Mermaid or JSON",
		Long:    graphHelp,
		Example: graphExamples,
		Args:    cobra.MaximumNArgs(2),
		RunE:    g.run,
	}
	g.flags = newFlags(c)
	c.ValidArgsFunction = complete(g.flags)
	c.Flags().StringSliceVarP(&g.files, "filename", "f", nil, "files with Bundles to compile; - is standard input")
	c.Flags().StringVarP(&g.output, "output", "o", "text", "output format: text, dot, mermaid or json")
	c.Flags().BoolVar(&g.ascii, "ascii", false, "use nothing but ASCII in text")
	return c
}

// grapher is one call of `truss graph`.
type grapher struct {
	flags  *genericclioptions.ConfigFlags
	files  []string
	output string
	ascii  bool
}

func (g *grapher) run(c *cobra.Command, args []string) error {
	if !slices.Contains([]string{"text", "dot", "mermaid", "json"}, g.output) {
		return fmt.Errorf("cannot print as %q: -o takes text, dot, mermaid or json", g.output)
	}
	bundles, err := g.read(c.Context(), c.InOrStdin(), args)
	if err != nil {
		return report(c.ErrOrStderr(), err, "cannot read the Bundles")
	}
	if g.output == "mermaid" && len(bundles) > 1 {
		return fmt.Errorf("cannot print %d Bundles as one Mermaid chart: pick one with bundle/NAME", len(bundles))
	}
	var problems []error
	for _, b := range bundles {
		err := g.print(c.OutOrStdout(), b)
		for _, e := range trace.Split(err) {
			problems = append(problems, fmt.Errorf("%s %s/%s: %w", v1.BundleKind, b.Namespace, b.Name, e))
		}
	}
	return report(c.ErrOrStderr(), errors.Join(problems...), "cannot print every graph")
}

// report prints several problems one per line; one alone is the error itself.
func report(to io.Writer, err error, what string) error {
	if err == nil {
		return nil
	}
	all := trace.Split(err)
	if len(all) == 1 {
		return errors.New(terminal.Clean(err.Error(), false))
	}
	for _, e := range all {
		fmt.Fprintln(to, terminal.Clean(e.Error(), false))
	}
	return fmt.Errorf("%s: %d problems", what, len(all))
}

// read returns the Bundles that the arguments and flags name.
func (g *grapher) read(ctx context.Context, in io.Reader, args []string) ([]*v1.Bundle, error) {
	name := ""
	if len(args) > 0 || len(g.files) == 0 {
		var err error
		if name, err = parseTarget(args); err != nil && len(args) == 0 {
			return nil, fmt.Errorf("%w, or -f FILE", err)
		} else if err != nil {
			return nil, err
		}
	}
	if len(g.files) > 0 {
		return g.readFiles(in, name)
	}
	cluster, err := reader.Connect(g.flags)
	if err != nil {
		return nil, err
	}
	b, err := cluster.Bundle(ctx, name)
	if err != nil {
		return nil, err
	}
	return []*v1.Bundle{b}, nil
}

func (g *grapher) readFiles(in io.Reader, name string) ([]*v1.Bundle, error) {
	// Without a kubeconfig that can be read the namespace is the default one.
	namespace, _, err := g.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil || namespace == "" {
		namespace = "default"
	}
	bundles, err := readFiles(g.files, in, namespace)
	if err != nil || name == "" {
		return bundles, err
	}
	bundles = slices.DeleteFunc(bundles, func(b *v1.Bundle) bool { return b.Name != name })
	if len(bundles) == 0 {
		return nil, fmt.Errorf("cannot find Bundle %q in %q", name, g.files)
	}
	return bundles, nil
}

// print compiles and prints one Bundle. States are those of its status; a file
// that carries one is no source of states.
func (g *grapher) print(out io.Writer, b *v1.Bundle) error {
	compiled, err := bundle.Compile(b)
	if err != nil {
		return err
	}
	var states *trace.Trace
	if len(g.files) == 0 {
		states = trace.Of(b, trace.NewPlan(b), nil)
	}
	return write(out, viewOf(b, compiled, states), g.output, g.ascii)
}
