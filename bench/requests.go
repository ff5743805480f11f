package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
	"github.com/truss-dev/truss/bench/shape"
	v1 "github.com/truss-dev/truss/bundle/v1"
)

// phase is a part of a Bundle's life whose requests are counted.
type phase struct {
	name string
	// limit is how many requests per child are allowed.
	limit float64
	// act starts it, with the Bundle as it shall be.
	act func(body []byte) error
	// ends says that an event of the Bundle is its last.
	ends func(*rig.Seen) bool
}

// requests counts what Truss asks of the API server for a Bundle of n
// ConfigMaps, all of which change each time.
func (s *suite) requests(ctx context.Context, n int) (rows []report.Row, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	namespace, err := s.rig.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	watch, err := s.rig.Watch(ctx, v1.BundleGVR, namespace, "")
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	var owners report.Row
	for i, p := range s.life(ctx, namespace) {
		body, err := json.Marshal(shape.Wide(n, i))
		if err != nil {
			return rows, fmt.Errorf("cannot encode a Bundle: %w", err)
		}
		counts, err := s.counted(ctx, namespace, watch, p, body)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", p.name, err)
		}
		rows = append(rows, report.Row{
			Measure: "requests per child: " + p.name, Target: fmt.Sprintf("<= %.4g", p.limit), Limit: p.limit,
			Result: float64(counts.Of("configmaps")) / float64(n), Detail: counts.String(),
		})
		if i == 0 {
			owners = ownerWrites(n, counts)
		}
	}
	return append(rows, owners), s.rig.Discard(ctx, namespace)
}

// life is that of one Bundle. Each change is another generation.
func (s *suite) life(ctx context.Context, namespace string) []phase {
	var owner rig.Owner
	create := func(body []byte) (err error) {
		owner, err = s.rig.Submit(ctx, v1.BundleGVR, namespace, body)
		return err
	}
	change := func(body []byte) error { return s.rig.Change(ctx, owner, body) }
	remove := func([]byte) error { return s.rig.Delete(ctx, owner) }
	return []phase{
		{"create", 1, create, readyIn(1)},
		{"first change", 2, change, readyIn(2)},
		{"later change", 1, change, readyIn(3)},
		{"teardown", 2, remove, gone},
	}
}

func readyIn(generation int64) func(*rig.Seen) bool {
	return func(e *rig.Seen) bool { return e.Ready() && e.Object.Metadata.Generation == generation }
}

func gone(e *rig.Seen) bool { return e.Type == "DELETED" }

// counted counts the requests of a phase, those that come after its end, too.
func (s *suite) counted(ctx context.Context, namespace string, w *rig.Watch, p phase, body []byte) (rig.Counts, error) {
	mark, err := s.rig.Mark()
	if err != nil {
		return nil, err
	}
	if err := p.act(body); err != nil {
		return nil, err
	}
	if _, err := w.Until(ctx, p.name, p.ends); err != nil {
		return nil, err
	}
	if err := s.rig.Calm(ctx); err != nil {
		return nil, err
	}
	return s.rig.Since(mark, namespace)
}

// ownerWrites judges the writes on a Bundle until it is Ready: finalizer with
// slot label, the transition, and one to spare. A run of this size is over
// before the first pause that allows a write of mere progress.
func ownerWrites(n int, c rig.Counts) report.Row {
	return report.Row{
		Measure: fmt.Sprintf("owner writes to Ready, %d nodes", n), Target: "<= 3", Limit: 3,
		Result: float64(c.Of(v1.BundlePlural)), Detail: fmt.Sprintf("and %d for the inventory", c.Of("controllerrevisions")),
	}
}
