package graph

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// layered returns n nodes in layers of the given width, each with up to needs
// needs in the layer before, always in the same way.
func layered(n, width, needs int) []Node[struct{}] {
	nodes := make([]Node[struct{}], n)
	for i := range nodes {
		nodes[i].ID = ID(fmt.Sprintf("node-%d", i))
		layer := i / width * width
		for k := range needs {
			if layer == 0 {
				break
			}
			need := layer - width + (i*7+k*k*3+k)%width
			nodes[i].Needs = append(nodes[i].Needs, Need{ID: ID(fmt.Sprintf("node-%d", need))})
		}
	}
	return nodes
}

// settled returns a run of pairs of nodes, each a need and its dependant, in
// which all is Ready.
func settled(t testing.TB, pairs int) *Run {
	t.Helper()
	nodes := make([]Node[struct{}], 0, 2*pairs)
	for i := range pairs {
		need := ID(fmt.Sprintf("need-%d", i))
		nodes = append(nodes, Node[struct{}]{ID: need},
			Node[struct{}]{ID: ID(fmt.Sprintf("dependant-%d", i)), Needs: []Need{{ID: need}}})
	}
	r := NewRun(mustCompile(t, nodes))
	finish(r)
	return r
}

func mustCompile(t testing.TB, nodes []Node[struct{}]) *Graph[struct{}] {
	t.Helper()
	g, err := New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// finish makes every node Ready in turn.
func finish(r *Run) {
	for i, ok := r.Next(); ok; i, ok = r.Next() {
		r.Set(i, Outcome{State: Ready})
	}
}

// An event is something that happens to node 0 of a settled run.
type event func(r *Run)

// event kinds whose cost must follow the node's degree.
var events = map[string]event{
	"Touched":      func(r *Run) { r.Touch(0) },
	"Unchanged":    func(r *Run) { r.Touch(0); r.Next(); r.Set(0, Outcome{State: Ready}) },
	"Changed":      func(r *Run) { r.Touch(0); r.Next(); r.Set(0, Outcome{State: Ready, Changed: true}) },
	"LeavesReady":  func(r *Run) { r.Set(0, Outcome{State: Error}) },
	"GoesAndComes": func(r *Run) { r.Set(0, Outcome{State: InProgress}); r.Set(0, Outcome{State: Ready}) },
}

func TestAnEventCostsTheSameInAnyGraph(t *testing.T) {
	for name, happen := range events {
		t.Run(name, func(t *testing.T) {
			var visits []int
			for _, pairs := range []int{5, 5_000} {
				r := settled(t, pairs)
				before := r.visits
				happen(r)
				visits = append(visits, r.visits-before)
			}
			if visits[0] != visits[1] || visits[0] == 0 || visits[0] > 6 {
				t.Errorf("nodes visited in graphs of 10 and 10,000 nodes: %v, want the same few", visits)
			}
		})
	}
}

func TestUndrainedChangesDoNotPileUp(t *testing.T) {
	r := settled(t, 1)
	for range 100 {
		r.Set(0, Outcome{State: Error})
		r.Set(0, Outcome{State: Ready})
	}
	if got := len(r.moved); got > 2 {
		t.Errorf("%d changes are kept for 2 nodes", got)
	}
}

func TestAWholeRunVisitsEachEdgeOnce(t *testing.T) {
	g := mustCompile(t, layered(1000, 50, 3))
	r := NewRun(g)
	finish(r)
	// Each node is looked at when the run is made and when it is set, each edge
	// when its need becomes Ready.
	if want := 2*g.Len() + len(g.needs.to); r.visits != want {
		t.Errorf("visited %d nodes, want %d", r.visits, want)
	}
}

func TestBlockingALongChainDoesNotGrowTheStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(256 << 10))
	const n = 100_000
	r := NewRun(mustCompile(t, layered(n, 1, 1)))
	finish(r)
	r.Drain()
	r.Set(0, Outcome{State: Error})
	if got := r.Counts(); got.Blocked != n-1 {
		t.Errorf("counts %+v, want all but one Blocked", got)
	}
	if got := len(r.Drain()); got != n {
		t.Errorf("%d transitions, want %d", got, n)
	}
}

func TestLargeGraphsCompileWithinTheirMemory(t *testing.T) {
	const limit = 200 << 20
	nodes := layered(100_000, 500, 3)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g := mustCompile(t, nodes)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > limit {
		t.Errorf("New() of %d nodes allocated %d MB, want at most %d", g.Len(), got>>20, limit>>20)
	}
}

func TestOrdinaryGraphsCompileInNoTime(t *testing.T) {
	// N25: the best of several tries, so that a busy machine fails nothing.
	const limit = slowdown * 10 * time.Millisecond
	for _, n := range []int{60, 1000} {
		nodes := layered(n, 12, 3)
		best := time.Hour
		for range 30 {
			start := time.Now()
			mustCompile(t, nodes)
			best = min(best, time.Since(start))
		}
		if best > limit {
			t.Errorf("New() of %d nodes took %v, want at most %v", n, best, limit)
		}
	}
}
