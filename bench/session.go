package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
	"github.com/truss-dev/truss/internal/version"
)

// onRig runs do on a rig with a running manager in a temporary directory, which
// is kept when something fails: the logs are in it.
func onRig(ctx context.Context, o rig.Options, stderr io.Writer, do func(*rig.Rig) error) (err error) {
	if o.Dir, err = os.MkdirTemp("", "truss-bench-"); err != nil {
		return fmt.Errorf("cannot make a directory for the control plane: %w", err)
	}
	defer func() {
		if err == nil || errors.Is(err, context.Canceled) {
			_ = os.RemoveAll(o.Dir)
			return
		}
		err = fmt.Errorf("%w (the logs are in %s)", err, o.Dir)
	}()
	fmt.Fprintln(stderr, "starting a control plane and a manager")
	r, err := rig.Start(ctx, o)
	if err != nil {
		return err
	}
	if err := r.StartManager(ctx); err != nil {
		return errors.Join(err, r.Close())
	}
	return errors.Join(do(r), r.Close())
}

func newResults(o options) *report.Results {
	mode := "full"
	if o.quick {
		mode = "quick"
	}
	return &report.Results{Started: time.Now().UTC(), Mode: mode, Pairs: o.pairs, Machine: report.Inspect()}
}

// identify notes what is measured.
func identify(r *rig.Rig, results *report.Results) error {
	server, err := r.ServerVersion()
	if err != nil {
		return err
	}
	results.Machine.Versions["kubernetes"] = server
	results.Machine.Versions["truss"] = version.String()
	return nil
}

func finish(results *report.Results) {
	results.Seconds = time.Since(results.Started).Round(time.Second / 10).Seconds()
}
