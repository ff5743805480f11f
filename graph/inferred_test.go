package graph_test

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/graph/topo"
	"pgregory.net/rapid"

	"github.com/truss-dev/truss/graph"
)

func TestInferredNeedsGiveWay(t *testing.T) {
	cases := map[string]struct {
		reason  string
		nodes   []string
		order   string
		dropped []graph.DroppedEdge
	}{
		"Absent": {
			reason: "An inferred need to an absent node is ignored.",
			nodes:  []string{"a: ?ghost", "b"},
			order:  "a b",
		},
		"Forwards": {
			reason: "An inferred need that agrees with the order is kept.",
			nodes:  []string{"a", "b: ?a"},
			order:  "a b",
		},
		"Backwards": {
			reason: "A Deployment listed before its ConfigMap still waits for it: no cycle is near.",
			nodes:  []string{"deployment: ?configmap", "configmap", "other"},
			order:  "configmap deployment other",
		},
		"BackwardsChain": {
			reason: "Inferred needs that all point backwards agree with each other.",
			nodes:  []string{"a: ?b", "b: ?c", "c: ?d", "d"},
			order:  "d c b a",
		},
		"BackwardsBesideACycle": {
			reason:  "Needs into a set of nodes that need each other, and out of it, are kept.",
			nodes:   []string{"x: ?a", "a: ?b", "b: ?a ?z", "z"},
			order:   "a x z b",
			dropped: []graph.DroppedEdge{{ID: "a", Need: "b"}},
		},
		"BackwardsBetweenCycles": {
			reason:  "Each set of nodes that need each other is its own; what connects two of them stays.",
			nodes:   []string{"a: ?b", "b: ?a ?d", "c: ?d", "d: ?c"},
			order:   "a c d b",
			dropped: []graph.DroppedEdge{{ID: "a", Need: "b"}, {ID: "c", Need: "d"}},
		},
		"AgainstDeclared": {
			reason:  "An inferred need against a declared one is dropped.",
			nodes:   []string{"a: b", "b: ?a"},
			order:   "b a",
			dropped: []graph.DroppedEdge{{ID: "b", Need: "a"}},
		},
		"AgainstADeclaredChain": {
			reason:  "A cycle of declared, referenced and inferred needs loses the inferred one.",
			nodes:   []string{"a: b", "b: &c", "c: ?a"},
			order:   "c b a",
			dropped: []graph.DroppedEdge{{ID: "c", Need: "a"}},
		},
		"ForwardsInACycle": {
			reason:  "Among nodes that need each other an inferred need that agrees with the order stays.",
			nodes:   []string{"a: ?c", "b: ?a", "c: b"},
			order:   "a b c",
			dropped: []graph.DroppedEdge{{ID: "a", Need: "c"}},
		},
		"Self": {
			reason:  "An inferred need of a node for itself is dropped.",
			nodes:   []string{"a: ?a"},
			order:   "a",
			dropped: []graph.DroppedEdge{{ID: "a", Need: "a"}},
		},
		"AgainstEachOther": {
			reason:  "Of two inferred needs against each other the one along the author's order is kept.",
			nodes:   []string{"a: ?b", "b: ?a"},
			order:   "a b",
			dropped: []graph.DroppedEdge{{ID: "a", Need: "b"}},
		},
		"AlsoDeclared": {
			reason: "A need that is declared as well is not inferred.",
			nodes:  []string{"a: ?b b", "b"},
			order:  "b a",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := mustNew(t, tc.nodes...)
			if got := names(g, g.Order()); got != tc.order {
				t.Errorf("%s\nOrder() = %q, want %q", tc.reason, got, tc.order)
			}
			if diff := cmp.Diff(tc.dropped, g.Dropped()); diff != "" {
				t.Errorf("%s\nDropped(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnknownReasonsCountAsInferred(t *testing.T) {
	g, err := graph.New([]graph.Node[int]{
		{ID: "a", Needs: []graph.Need{{ID: "b", Reason: 9}, {ID: "ghost", Reason: 9}}},
		{ID: "b", Needs: []graph.Need{{ID: "a", Reason: 9}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.NeedReason(1, 0); got != graph.Inferred {
		t.Errorf("NeedReason(b, 0) = %v, want inferred", got)
	}
	if diff := cmp.Diff([]graph.DroppedEdge{{ID: "a", Need: "b"}}, g.Dropped()); diff != "" {
		t.Errorf("Dropped(): -want, +got:\n%s", diff)
	}
}

// drawInferring draws nodes whose declared and referenced needs are of earlier
// or, by coin toss for all, of later nodes, and whose inferred needs are of any.
func drawInferring(t *rapid.T) []graph.Node[int] {
	nodes := make([]graph.Node[int], rapid.IntRange(1, 10).Draw(t, "nodes"))
	n := len(nodes)
	later := rapid.Bool().Draw(t, "later")
	for i := range nodes {
		nodes[i] = graph.Node[int]{ID: number(i), Payload: i}
		for range rapid.IntRange(0, 2).Draw(t, "inferred") {
			need := number(rapid.IntRange(0, n-1).Draw(t, "need"))
			nodes[i].Needs = append(nodes[i].Needs, graph.Need{ID: need, Reason: graph.Inferred})
		}
		to := rapid.IntRange(0, n-1).Draw(t, "strong")
		if to != i && to > i == later {
			reason := graph.Reason(rapid.IntRange(0, 1).Draw(t, "reason"))
			nodes[i].Needs = append(nodes[i].Needs, graph.Need{ID: number(to), Reason: reason})
		}
	}
	return nodes
}

func TestInferredNeedsAreDroppedOnlyBackwardsAmongNodesThatNeedEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawInferring(t)
		g, err := graph.New(nodes)
		if err != nil {
			t.Fatalf("New() = %v, though only inferred needs are on cycles", err)
		}
		checkOrder(t, newOracle(nodes), g)
	})
}

func TestInferredNeedsWithoutACycleAreAllKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawInferring(t)
		o := newOracle(nodes)
		g, err := graph.New(nodes)
		if err != nil {
			t.Fatal(err)
		}
		_, cyclic := topo.Sort(o.digraph(o.needs))
		for i := range nodes {
			if o.needs(i, i) {
				cyclic = fmt.Errorf("%s needs itself", number(i))
			}
		}
		if dropped := len(g.Dropped()) > 0; dropped != (cyclic != nil) {
			t.Fatalf("Dropped() = %v, cycle of all needs: %v", g.Dropped(), cyclic)
		}
	})
}

func TestDeepChainsOfInferredNeedsDoNotGrowTheStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(256 << 10))
	const n = 100_000
	nodes := make([]graph.Node[struct{}], n)
	for i := range nodes {
		nodes[i].ID = number(i)
		nodes[i].Needs = []graph.Need{{ID: number((i + 1) % n), Reason: graph.Inferred}}
	}
	closed, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(closed.Dropped()); got != n-1 {
		t.Errorf("closed chain: %d needs dropped, want all but the one of the last node, %d", got, n-1)
	}

	nodes[n-1].Needs = nil
	open, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(open.Dropped()); got != 0 {
		t.Errorf("open chain: %d needs dropped, want none", got)
	}
	if got := open.Depth(0); got != n-1 {
		t.Errorf("open chain: Depth(0) = %d, want %d", got, n-1)
	}
}
