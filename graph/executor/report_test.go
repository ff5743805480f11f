package executor

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// A turn may end while a node that lost its need has not acted again. When it
// then comes to the verdict that it had before, the report is another one all
// the same: who skips it shows the node as in progress for ever.
func TestTheStampChangesWithStatesToo(t *testing.T) {
	compiled, err := graph.New([]graph.Node[resource.Node]{
		{ID: "a"}, {ID: "b", Needs: []graph.Need{{ID: "a"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &work{x: &Executor{now: time.Now}}
	g := &generation{
		run: graph.NewRun(compiled), graph: compiled, nodes: make([]node, 2), owner: &resource.Owner{},
		looked: true, timers: newTimers(), stamp: &w.stamp,
	}
	set := func(i int, s graph.State) func() {
		return func() { g.run.Set(i, graph.Outcome{State: s}) }
	}
	steps := []struct {
		reason  string
		step    func()
		changes bool
	}{
		{"All are Ready.", func() { settle(g) }, true},
		{"Nothing happened.", func() {}, false},
		{"The need stopped being Ready, which blocks b.", set(0, graph.InProgress), true},
		{"It is Ready again, and the turn ended before b acted.", set(0, graph.Ready), true},
		{"b acted and is Ready, as it was before.", func() { settle(g) }, true},
		{"Nothing happened.", func() {}, false},
	}
	var was uint64
	for _, s := range steps {
		s.step()
		is := w.report(g, false).Stamp
		if (is != was) != s.changes {
			t.Errorf("%s Stamp was %d, is %d", s.reason, was, is)
		}
		was = is
	}
}

func TestMadeUpKindsHaveNoMetricsOfTheirOwn(t *testing.T) {
	n := &node{def: &resource.Node{Identity: resource.Identity{Group: "no.example.com", Kind: "Kind42"}}}
	if got := n.kindLabel(); got != "unknown" {
		t.Errorf("label %q of a kind that the API server does not know", got)
	}
	n.mapping = &meta.RESTMapping{}
	if got := n.kindLabel(); got != "Kind42.no.example.com" {
		t.Errorf("label %q of a kind that it knows", got)
	}
}
