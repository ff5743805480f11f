package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
	"github.com/truss-dev/truss/internal/manager"
	"github.com/truss-dev/truss/internal/version"
)

// managerCommand as the first argument makes this program a manager.
const managerCommand = "manager"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// start runs a manager or the benchmarks and gives the exit code: 1 when a
// target was missed or something failed, 2 for wrong usage.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == managerCommand {
		return said(stderr, manage(ctx, args[1:]))
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	if o.profile != "" {
		return said(stderr, profile(ctx, o, stderr))
	}
	missed, err := bench(ctx, o, stdout, stderr)
	if err == nil && missed > 0 {
		err = fmt.Errorf("%d targets missed by more than 20 %%", missed)
	}
	return said(stderr, err)
}

func said(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "bench:", err)
	return 1
}

// options are the flags.
type options struct {
	quick   bool
	run     *regexp.Regexp
	pairs   int
	out     string
	profile string
	manager string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.quick, "quick", false, "smaller measures and fewer pairs: under 3 minutes")
	flags.Func("run", "run the measures whose names match this `regexp`", func(s string) (err error) {
		o.run, err = regexp.Compile(s)
		return err
	})
	flags.IntVar(&o.pairs, "pairs", 0, "number of interleaved pairs (default 7, quick 3)")
	flags.StringVar(&o.out, "out", "bench/out", "directory of results.json")
	flags.StringVar(&o.profile, "profile", "", "run the manager in this process and write CPU and allocation profiles of the wide and the chain case to this `directory`; nothing is judged")
	flags.StringVar(&o.manager, "manager", "", "a truss binary whose manager is measured instead of this program's own, such as bin/truss")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.pairs < 0 {
		err := fmt.Errorf("cannot use arguments %q with -pairs %d", flags.Args(), o.pairs)
		fmt.Fprintln(stderr, "bench:", err)
		return o, err
	}
	if o.run == nil {
		o.run = regexp.MustCompile("")
	}
	if o.pairs == 0 {
		o.pairs = 7
		if o.quick {
			o.pairs = 3
		}
	}
	return o, nil
}

// manage is `truss manager`.
func manage(ctx context.Context, args []string) error {
	o := manager.Options{Version: version.String()}
	flags := pflag.NewFlagSet(managerCommand, pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	return manager.Run(ctx, o)
}

// managerOf is the command that runs the manager to measure.
func managerOf(o options) ([]string, error) {
	program := o.manager
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("cannot find the program to start as manager: %w", err)
		}
	}
	return []string{program, managerCommand}, nil
}

// bench runs the chosen measures, prints and stores their rows and gives the
// number of targets missed. Rows that were measured are reported also when a
// later measure fails.
func bench(ctx context.Context, o options, stdout, stderr io.Writer) (missed int, err error) {
	command, err := managerOf(o)
	if err != nil {
		return 0, err
	}
	if len(chosen(o)) == 0 {
		return 0, errors.New("cannot find a measure that -run matches in this mode")
	}
	results := newResults(o)
	err = onRig(ctx, rig.Options{Manager: command}, stderr, func(r *rig.Rig) error {
		if err := identify(r, results); err != nil {
			return err
		}
		return newSuite(r, o, stderr).run(ctx, results)
	})
	results.Machine.LoadAfter = report.Load()
	finish(results)
	if len(results.Rows) == 0 {
		return 0, err
	}
	path, failed := results.Write(o.out)
	if failed == nil {
		fmt.Fprintf(stderr, "every sample is in %s\n", path)
	}
	return results.Missed(), errors.Join(err, results.Table(stdout), failed)
}
