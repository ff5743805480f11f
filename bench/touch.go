package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
	"github.com/truss-dev/truss/bench/shape"
	"github.com/truss-dev/truss/bench/stats"
	v1 "github.com/truss-dev/truss/bundle/v1"
)

// A change in a graph of any size must reach its dependant within touchLimit
// (99th percentile, milliseconds), and within touchFactor times what it takes
// in a graph of smallGraph nodes (medians).
const (
	touchLimit  = 25.0
	touchFactor = 1.5
	smallGraph  = 50
)

// touchWarm changes do not count: the first one migrates the object.
const touchWarm = 3

// touchPause lies between changes to the two graphs in turn, so that each
// changes once a second.
const touchPause = 500 * time.Millisecond

// fed is a Bundle of shape.Fed that is Ready.
type fed struct {
	owner        rig.Owner
	owners, data *rig.Watch
	sent         int
}

// touch changes one object of a graph of n and of a small one in turn, each a
// second apart, and measures when its dependant is written.
func (s *suite) touch(ctx context.Context, n, changes int) ([]report.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	small, err := s.feed(ctx, smallGraph)
	if err != nil {
		return nil, err
	}
	defer small.close()
	large, err := s.feed(ctx, n)
	if err != nil {
		return nil, err
	}
	defer large.close()
	samples := map[string][]float64{}
	counts, err := s.changes(ctx, large, small, changes, samples)
	if err != nil {
		return nil, err
	}
	rows := touchRows(n, changes, counts, samples)
	return rows, errors.Join(s.retire(ctx, large.owner, large.owners), s.retire(ctx, small.owner, small.owners))
}

// changes makes them all and counts the requests about the large graph.
func (s *suite) changes(ctx context.Context, large, small *fed, n int, samples map[string][]float64) (rig.Counts, error) {
	var mark int64
	for i := range touchWarm + n {
		if i == touchWarm {
			if err := s.rest(ctx); err != nil {
				return nil, err
			}
			at, err := s.rig.Mark()
			if err != nil {
				return nil, err
			}
			mark = at
		}
		for _, f := range []struct {
			*fed
			name string
		}{{large, "large"}, {small, "small"}} {
			took, err := s.change(ctx, f.fed)
			if err != nil {
				return nil, err
			}
			if i >= touchWarm {
				samples[f.name] = append(samples[f.name], took)
			}
			if err := rig.Pause(ctx, touchPause); err != nil {
				return nil, err
			}
		}
	}
	return s.rig.Since(mark, large.owner.Namespace)
}

func touchRows(n, changes int, counts rig.Counts, samples map[string][]float64) []report.Row {
	large, small := samples["large"], samples["small"]
	name := fmt.Sprintf("one change among %d", n)
	return []report.Row{
		{
			Measure: name + ": requests", Target: "1", Limit: 1,
			Result: float64(counts.Reads()+counts.Writes()) / float64(changes), Detail: counts.String(),
		},
		{
			Measure: name + ": to dependant's write, p99", Target: "<= 25 ms", Limit: touchLimit,
			Result: stats.Quantile(large, 0.99) * 1000, Unit: "ms", Samples: samples,
			Detail: fmt.Sprintf("median %s ms of %d changes", report.Digits(stats.Median(large)*1000), changes),
		},
		{
			Measure: name + fmt.Sprintf(": against %d", smallGraph), Target: fmt.Sprintf("<= %.4g x", touchFactor),
			Limit: touchFactor, Result: stats.Median(large) / stats.Median(small), Unit: "x",
			Detail: fmt.Sprintf("median %s ms among %d", report.Digits(stats.Median(small)*1000), smallGraph),
		},
	}
}

// feed makes a Bundle of shape.Fed and waits until it is Ready.
func (s *suite) feed(ctx context.Context, n int) (*fed, error) {
	body, err := json.Marshal(shape.Fed(n))
	if err != nil {
		return nil, fmt.Errorf("cannot encode a Bundle: %w", err)
	}
	namespace, err := s.rig.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	owners, err := s.rig.Watch(ctx, v1.BundleGVR, namespace, "")
	if err != nil {
		return nil, err
	}
	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	data, err := s.rig.Watch(ctx, configMaps, namespace, shape.WatchLabel+"=true")
	if err != nil {
		owners.Close()
		return nil, err
	}
	f := &fed{owners: owners, data: data}
	if err := s.begin(ctx, f, namespace, body); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (s *suite) begin(ctx context.Context, f *fed, namespace string, body []byte) (err error) {
	if f.owner, err = s.rig.Submit(ctx, v1.BundleGVR, namespace, body); err != nil {
		return err
	}
	if _, err := f.data.Until(ctx, "the source", func(e *rig.Seen) bool { return e.Object.Metadata.Name == shape.Source }); err != nil {
		return err
	}
	if _, err := s.change(ctx, f); err != nil {
		return err
	}
	_, err = f.owners.Until(ctx, "Ready", (*rig.Seen).Ready)
	return err
}

// change sets another signal and gives the seconds between the moments in which
// the external watcher saw it in the source and in its dependant.
func (s *suite) change(ctx context.Context, f *fed) (float64, error) {
	f.sent++
	signal := strconv.Itoa(f.sent)
	if err := s.rig.Signal(ctx, f.owner.Namespace, shape.Source, shape.SignalKey, signal); err != nil {
		return 0, err
	}
	shows := func(name string) func(*rig.Seen) bool {
		return func(e *rig.Seen) bool {
			return e.Object.Metadata.Name == name && e.Object.Data[shape.SignalKey] == signal
		}
	}
	from, err := f.data.Until(ctx, "the change of the source", shows(shape.Source))
	if err != nil {
		return 0, err
	}
	to, err := f.data.Until(ctx, "the change of its dependant", shows(shape.FedName))
	if err != nil {
		return 0, err
	}
	return to.At.Sub(from.At).Seconds(), nil
}

func (f *fed) close() {
	f.owners.Close()
	f.data.Close()
}
