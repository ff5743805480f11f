package graph_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/truss-dev/truss/graph"
)

// A pool acts on the nodes of a run with several workers and checks what no
// order of events may break.
type pool struct {
	t      *testing.T
	graph  *graph.Graph[struct{}]
	run    *graph.Run
	flying []atomic.Bool
	acted  []atomic.Int32
	// waits carries the nodes that wait for an event.
	waits chan int
}

// work acts until nothing is left to do.
func (p *pool) work() {
	for p.run.Pending() || !p.run.Counts().Done() {
		i, ok := p.run.Next()
		if !ok {
			runtime.Gosched()
			continue
		}
		p.act(i)
	}
}

// act makes a node Ready; the first time every third one waits for an event, and
// every seventh fails.
func (p *pool) act(i int) {
	if p.flying[i].Swap(true) {
		p.t.Errorf("node %d was given out twice", i)
	}
	for _, need := range p.graph.Needs(i) {
		if p.acted[need].Load() == 0 {
			p.t.Errorf("node %d acts before its need %d", i, need)
		}
	}
	outcome := graph.Outcome{State: graph.Ready, Changed: i%5 == 0}
	first := p.acted[i].Add(1) == 1
	if first && i%3 == 0 {
		outcome = graph.Outcome{State: graph.InProgress}
	}
	if first && i%7 == 0 {
		outcome = graph.Outcome{State: graph.Error}
	}
	p.flying[i].Store(false)
	p.run.Set(i, outcome)
	if outcome.State != graph.Ready {
		p.waits <- i
	}
}

// observe wakes the nodes that wait, and asks all that can be asked meanwhile.
func (p *pool) observe() {
	for i := range p.waits {
		p.run.Touch(i)
		p.run.BlockedBy(i)
		p.run.State(i)
		p.run.Outcome(i)
		p.run.InFlight()
		p.run.Drain()
	}
}

func TestAPoolOfWorkersSettlesTheRun(t *testing.T) {
	const n, width = 2000, 40
	nodes := make([]graph.Node[struct{}], n)
	for i := range nodes {
		nodes[i].ID = graph.ID(fmt.Sprint(i))
		for k := range min(i/width, 3) {
			need := i/width*width - width + (i*7+k*11)%width
			nodes[i].Needs = append(nodes[i].Needs, graph.Need{ID: graph.ID(fmt.Sprint(need))})
		}
	}
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	p := &pool{
		t: t, graph: g, run: graph.NewRun(g),
		flying: make([]atomic.Bool, n), acted: make([]atomic.Int32, n), waits: make(chan int, n),
	}
	var workers, observer sync.WaitGroup
	observer.Go(p.observe)
	for range 8 {
		workers.Go(p.work)
	}
	workers.Wait()
	close(p.waits)
	observer.Wait()
	if got := p.run.Counts(); !got.Done() || p.run.Pending() {
		t.Errorf("counts %+v after all workers ended, want all Ready", got)
	}
}

func TestSupersedeStopsAPool(t *testing.T) {
	nodes := make([]graph.Node[struct{}], 1000)
	for i := range nodes {
		nodes[i].ID = graph.ID(fmt.Sprint(i))
	}
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	r := graph.NewRun(g)
	var acted atomic.Int32
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i, ok := r.Next(); ok; i, ok = r.Next() {
				if acted.Add(1) == 100 {
					r.Supersede()
				}
				r.Set(i, graph.Outcome{State: graph.Ready})
			}
		})
	}
	workers.Wait()
	// Each of the other workers may have had one node out already.
	if got := acted.Load(); got < 100 || got > 103 {
		t.Errorf("%d nodes acted, want 100 and at most one more per other worker", got)
	}
	if r.Pending() || !r.Superseded() {
		t.Errorf("Pending() = %t, Superseded() = %t after the pool stopped", r.Pending(), r.Superseded())
	}
}
