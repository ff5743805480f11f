package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
	"github.com/truss-dev/truss/bench/shape"
	"github.com/truss-dev/truss/bench/stats"
	v1 "github.com/truss-dev/truss/bundle/v1"
)

// profile runs the manager in this process and writes DIR/NAME.cpu.pprof and
// DIR/NAME.allocs.pprof for each case. Its goroutines carry the label
// rig.ProfileLabel in the CPU profile; allocations are those of the whole
// process, in which the external watcher is but one decoder.
func profile(ctx context.Context, o options, stderr io.Writer) error {
	if err := os.MkdirAll(o.profile, 0o755); err != nil {
		return fmt.Errorf("cannot make directory %q: %w", o.profile, err)
	}
	wide, chain := 5000, 200
	if o.quick {
		wide, chain = 1000, 100
	}
	return onRig(ctx, rig.Options{}, stderr, func(r *rig.Rig) error {
		s := newSuite(r, o, stderr)
		for _, c := range []struct {
			name   string
			bundle *v1.Bundle
		}{{"wide", shape.Wide(wide, 1)}, {"chain", shape.Chain(chain)}} {
			if !o.run.MatchString(c.name) {
				continue
			}
			if err := s.profiled(ctx, c.name, c.bundle); err != nil {
				return fmt.Errorf("cannot profile %s: %w", c.name, err)
			}
		}
		return nil
	})
}

// profiled runs a Bundle as often as there are pairs, after one run that warms
// up, under the profiler. Teardowns are in the profile, too: the stacks tell
// them apart.
func (s *suite) profiled(ctx context.Context, name string, b *v1.Bundle) (err error) {
	p, err := newPairing(ctx, s, b)
	if err != nil {
		return err
	}
	if _, err := p.truss(ctx); err != nil {
		return err
	}
	cpu, err := os.Create(filepath.Join(s.o.profile, name+".cpu.pprof"))
	if err != nil {
		return fmt.Errorf("cannot make a profile: %w", err)
	}
	defer func() { err = errors.Join(err, cpu.Close()) }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return fmt.Errorf("cannot start the profiler: %w", err)
	}
	var took []float64
	for range s.o.pairs {
		d, err := p.truss(ctx)
		if err != nil {
			pprof.StopCPUProfile()
			return err
		}
		took = append(took, d)
	}
	pprof.StopCPUProfile()
	runtime.ReadMemStats(&after)
	runs := float64(len(took))
	fmt.Fprintf(s.stderr, "%s: %s s to Ready; %s MB and %s thousand objects allocated a run, teardown included\n", name,
		report.Digits(stats.Median(took)), report.Digits(float64(after.TotalAlloc-before.TotalAlloc)/runs/1e6),
		report.Digits(float64(after.Mallocs-before.Mallocs)/runs/1e3))
	return allocations(filepath.Join(s.o.profile, name+".allocs.pprof"))
}

func allocations(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cannot make a profile: %w", err)
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
