package executor

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/truss-dev/truss/graph"
)

// wide is a run over n nodes without needs.
func wide(t *testing.T, n int) *graph.Run {
	t.Helper()
	nodes := make([]graph.Node[int], n)
	for i := range nodes {
		nodes[i] = graph.Node[int]{ID: graph.ID(fmt.Sprintf("n%04d", i))}
	}
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return graph.NewRun(g)
}

// ticker is a clock that a test moves.
type ticker struct {
	mu sync.Mutex
	at time.Time
}

func (c *ticker) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *ticker) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestADrainYieldsWhenItsTurnIsOver(t *testing.T) {
	cases := map[string]struct {
		reason  string
		writes  int64
		took    time.Duration
		yields  bool
		atLeast int
		atMost  int
	}{
		"Writes":  {"After 256 writes, and what is in flight then", 1, 0, true, drainWrites, drainWrites + 4},
		"Time":    {"After a second", 0, 100 * time.Millisecond, true, 10, 16},
		"Neither": {"Looking costs no turn", 0, 0, false, 1000, 1000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clock := &ticker{}
			run := wide(t, 1000)
			var writes, seen atomic.Int64
			d := drain{run: run, limit: make(limiter, 4), writes: &writes, now: clock.now}
			d.process = func(context.Context, int) graph.Outcome {
				writes.Add(tc.writes)
				seen.Add(1)
				clock.step(tc.took)
				return graph.Outcome{State: graph.Ready}
			}
			if got := d.do(t.Context()); got != tc.yields {
				t.Errorf("%s: do() = %t, want %t", tc.reason, got, tc.yields)
			}
			if n := int(seen.Load()); n < tc.atLeast || n > tc.atMost {
				t.Errorf("%s: %d nodes in one turn, want %d to %d", tc.reason, n, tc.atLeast, tc.atMost)
			}
			if run.InFlight() != 0 {
				t.Error("a turn ended before what it began")
			}
		})
	}
}

func TestADrainEndsWithWhatIsInFlight(t *testing.T) {
	cases := map[string]struct {
		reason string
		end    func(run *graph.Run, cancel func())
	}{
		"Superseded": {"A newer generation begins no write, and cancels none", func(run *graph.Run, _ func()) { run.Supersede() }},
		"Stopped":    {"Nor does the end of the process", func(_ *graph.Run, cancel func()) { cancel() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			run := wide(t, 100)
			var begun, ended, cancelled, writes atomic.Int64
			var over atomic.Bool
			d := drain{run: run, limit: make(limiter, 4), writes: &writes, now: time.Now}
			d.process = func(look context.Context, i int) graph.Outcome {
				if begun.Add(1) == 4 {
					tc.end(run, cancel)
					over.Store(true)
				}
				for !over.Load() { // all four are in flight when the end comes
					runtime.Gosched()
				}
				if look.Err() != nil {
					cancelled.Add(1)
				}
				ended.Add(1)
				return graph.Outcome{State: graph.Ready}
			}
			d.do(ctx)
			if begun.Load() > 8 || begun.Load() != ended.Load() || cancelled.Load() > 0 {
				t.Errorf("%s: %d begun, %d ended, %d cancelled", tc.reason, begun.Load(), ended.Load(), cancelled.Load())
			}
		})
	}
}

func TestADrainNeverHasMoreInFlightThanItsLimit(t *testing.T) {
	run := wide(t, 300)
	var now, most, writes atomic.Int64
	d := drain{run: run, limit: make(limiter, 5), writes: &writes, now: time.Now}
	d.process = func(context.Context, int) graph.Outcome {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		now.Add(-1)
		return graph.Outcome{State: graph.Ready}
	}
	if d.do(t.Context()) || most.Load() > 5 {
		t.Errorf("%d in flight, 5 are allowed", most.Load())
	}
}

func TestADrainSeesWhatIsTouchedMeanwhile(t *testing.T) {
	run := wide(t, 2)
	var looks, writes atomic.Int64
	d := drain{run: run, limit: make(limiter, 1), writes: &writes, now: time.Now}
	d.process = func(_ context.Context, i int) graph.Outcome {
		if looks.Add(1) < 5 {
			run.Touch(i)
		}
		return graph.Outcome{State: graph.Ready}
	}
	if d.do(t.Context()) || looks.Load() != 6 {
		t.Errorf("%d looks, want those of two nodes and of four touches", looks.Load())
	}
}
