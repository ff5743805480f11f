package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/truss-dev/truss/bench/raw"
	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
	"github.com/truss-dev/truss/bench/shape"
	"github.com/truss-dev/truss/bench/stats"
	v1 "github.com/truss-dev/truss/bundle/v1"
)

// patience bounds one run.
const patience = 3 * time.Minute

// widths are the numbers of connections of which the baseline uses the best.
func widths() []int { return []int{8, 32, 64} }

// wide is the time of a Bundle without references to Ready.
func (s *suite) wide(ctx context.Context, n int) ([]report.Row, error) {
	return s.ready(ctx, fmt.Sprintf("wide %d: time to Ready", n), shape.Wide(n, 1), widths(), 1.25)
}

// chain is the time of a Bundle each of whose objects needs the one before; one
// connection is all that a client can use.
func (s *suite) chain(ctx context.Context, n int) ([]report.Row, error) {
	return s.ready(ctx, fmt.Sprintf("chain %d: time to Ready", n), shape.Chain(n), []int{1}, 1.3)
}

// ready compares Truss with the baseline over one Bundle.
func (s *suite) ready(ctx context.Context, name string, b *v1.Bundle, widths []int, limit float64) ([]report.Row, error) {
	p, err := newPairing(ctx, s, b)
	if err != nil {
		return nil, err
	}
	connections, err := p.best(ctx, widths)
	if err != nil {
		return nil, err
	}
	samples := map[string][]float64{}
	for i := range s.o.pairs {
		if err := p.pair(ctx, connections, i%2 == 1, samples); err != nil {
			return nil, err
		}
	}
	truss, base, plain := samples["truss"], samples["raw"], samples["plain"]
	return []report.Row{{
		Measure: name, Target: fmt.Sprintf("<= %.4g x raw", limit), Limit: limit, Unit: "x",
		Result: stats.Median(stats.Ratios(truss, base)), Samples: samples,
		Detail: fmt.Sprintf("truss %s s, raw %s s (%d connections), plain creates %s s: %.2f x",
			report.Digits(stats.Median(truss)), report.Digits(stats.Median(base)), connections.Len(),
			report.Digits(stats.Median(plain)), stats.Median(stats.Ratios(truss, plain))),
	}}, nil
}

// pairing runs one Bundle by Truss, by the baseline and as plain creates.
type pairing struct {
	s      *suite
	bundle *v1.Bundle
	// body and twin are the encoded Bundle and the baseline's owner.
	body, twin []byte
	config     *rest.Config
}

func newPairing(ctx context.Context, s *suite, b *v1.Bundle) (*pairing, error) {
	config, err := s.rig.ManagerConfig(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a Bundle: %w", err)
	}
	other := b.DeepCopy()
	other.APIVersion = rig.TwinGVR.GroupVersion().String()
	twin, err := json.Marshal(other)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a Bundle: %w", err)
	}
	return &pairing{s: s, bundle: b, body: body, twin: twin, config: config}, nil
}

// best finds the number of connections on which the baseline is fastest, by the
// median of three runs each, one in quick mode. A pair before that warms
// everything up and does not count.
func (p *pairing) best(ctx context.Context, widths []int) (*raw.Connections, error) {
	var best *raw.Connections
	var least float64
	for i, width := range widths {
		connections, err := raw.Connect(ctx, p.config, width, rig.Apart)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if err := p.pair(ctx, connections, false, map[string][]float64{}); err != nil {
				return nil, err
			}
		}
		if len(widths) == 1 {
			return connections, nil
		}
		var took []float64
		for range p.s.calibration() {
			d, err := p.raw(ctx, connections)
			if err != nil {
				return nil, err
			}
			took = append(took, d)
		}
		if m := stats.Median(took); best == nil || m < least {
			best, least = connections, m
		}
	}
	return best, nil
}

// calibration is how often each number of connections is tried.
func (s *suite) calibration() int {
	if s.o.quick {
		return 1
	}
	return 3
}

// pair adds one run of each to the samples. The order alternates between pairs,
// so that neither always comes after the other.
func (p *pairing) pair(ctx context.Context, c *raw.Connections, swap bool, samples map[string][]float64) error {
	runs := []func() error{
		func() error { return add(samples, "raw", func() (float64, error) { return p.raw(ctx, c) }) },
		func() error { return add(samples, "truss", func() (float64, error) { return p.truss(ctx) }) },
	}
	if swap {
		runs[0], runs[1] = runs[1], runs[0]
	}
	runs = append(runs, func() error { return add(samples, "plain", func() (float64, error) { return p.plain(ctx, c) }) })
	for _, run := range runs {
		if err := run(); err != nil {
			return err
		}
	}
	return nil
}

func add(samples map[string][]float64, name string, run func() (float64, error)) error {
	took, err := run()
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", name, err)
	}
	samples[name] = append(samples[name], took)
	return nil
}

// truss submits the Bundle and waits until the external watcher sees it Ready.
// It is deleted by Truss, too: what is left of a run must not weigh on the next.
func (p *pairing) truss(ctx context.Context) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.timed(ctx, v1.BundleGVR, p.body, func(rig.Owner) error { return nil }, p.s.retire)
}

// raw submits the twin, sends what Truss would and waits for the same.
func (p *pairing) raw(ctx context.Context, c *raw.Connections) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stop, err := c.Follow(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	var plan *raw.Plan
	prepare := func(namespace string) (err error) {
		plan, err = raw.Prepare(ctx, p.bundle, rig.TwinGVR.GroupVersion().WithKind(v1.BundleKind), namespace, p.s.key)
		return err
	}
	send := func(o rig.Owner) error { return plan.Run(ctx, c, o.UID) }
	return p.clocked(ctx, rig.TwinGVR, p.twin, prepare, send, func(ctx context.Context, o rig.Owner, _ *rig.Watch) error {
		return p.s.rig.Discard(ctx, o.Namespace)
	})
}

// timed is clocked for a run that needs no preparation.
func (p *pairing) timed(ctx context.Context, gvr schema.GroupVersionResource, body []byte, send func(rig.Owner) error, clean cleaner) (float64, error) {
	return p.clocked(ctx, gvr, body, func(string) error { return nil }, send, clean)
}

// cleaner removes what a run left, while its watch is open.
type cleaner func(ctx context.Context, o rig.Owner, w *rig.Watch) error

// clocked runs in a fresh namespace: the clock starts before the owner's POST
// and stops when the external watcher has seen it Ready.
func (p *pairing) clocked(ctx context.Context, gvr schema.GroupVersionResource, body []byte,
	prepare func(namespace string) error, send func(rig.Owner) error, clean cleaner,
) (seconds float64, err error) {
	r := p.s.rig
	namespace, err := r.Namespace(ctx)
	if err != nil {
		return 0, err
	}
	watch, err := r.Watch(ctx, gvr, namespace, "")
	if err != nil {
		return 0, err
	}
	defer watch.Close()
	if err := prepare(namespace); err != nil {
		return 0, err
	}
	if err := p.s.rest(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	owner, err := r.Submit(ctx, gvr, namespace, body)
	if err != nil {
		return 0, err
	}
	if err := send(owner); err != nil {
		return 0, err
	}
	seen, err := watch.Until(ctx, "Ready", (*rig.Seen).Ready)
	if err != nil {
		return 0, err
	}
	return seen.At.Sub(began).Seconds(), clean(ctx, owner, watch)
}

// plain makes the bare children; the clock stops at the last answer.
func (p *pairing) plain(ctx context.Context, c *raw.Connections) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	namespace, err := p.s.rig.Namespace(ctx)
	if err != nil {
		return 0, err
	}
	plan, err := raw.Prepare(ctx, p.bundle, rig.TwinGVR.GroupVersion().WithKind(v1.BundleKind), namespace, p.s.key)
	if err != nil {
		return 0, err
	}
	if err := p.s.rest(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := plan.Plain(ctx, c); err != nil {
		return 0, err
	}
	took := time.Since(began).Seconds()
	return took, p.s.rig.Discard(ctx, namespace)
}

// rest lets the API server and this process come to rest before a clock starts.
func (s *suite) rest(ctx context.Context) error {
	runtime.GC()
	return s.rig.Calm(ctx)
}

// retire lets Truss take an owner down, waits until it is gone and removes the
// namespace.
func (s *suite) retire(ctx context.Context, o rig.Owner, w *rig.Watch) error {
	if err := s.rig.Delete(ctx, o); err != nil {
		return err
	}
	_, err := w.Until(ctx, "the end of the teardown", func(e *rig.Seen) bool { return e.Type == "DELETED" })
	if err != nil {
		return errors.Join(errors.New("cannot take a Bundle down"), err)
	}
	return s.rig.Discard(ctx, o.Namespace)
}
