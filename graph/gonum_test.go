package graph_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/truss-dev/truss/graph"
)

var _ gonum.Directed = (*graph.Graph[int])(nil)

// numbers drains an iterator.
func numbers(nodes gonum.Nodes) []int64 {
	got := []int64{}
	for nodes.Next() {
		got = append(got, nodes.Node().ID())
	}
	return got
}

func TestGonumSeesEdgesFromNeedToDependant(t *testing.T) {
	g := mustNew(t, "a", "b: a", "c: &a b", "d")
	cases := map[string]struct {
		reason string
		got    gonum.Nodes
		want   []int64
	}{
		"Nodes":       {reason: "Numbers are author positions.", got: g.Nodes(), want: []int64{0, 1, 2, 3}},
		"From":        {reason: "From gives dependants.", got: g.From(0), want: []int64{1, 2}},
		"To":          {reason: "To gives needs.", got: g.To(2), want: []int64{0, 1}},
		"FromLeaf":    {reason: "A node without dependants has none, not nil.", got: g.From(3), want: []int64{}},
		"FromUnknown": {reason: "An unknown number has no neighbours.", got: g.From(4), want: []int64{}},
		"ToUnknown":   {reason: "A negative number has no neighbours.", got: g.To(-1), want: []int64{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, numbers(tc.got)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGonumFindsEdges(t *testing.T) {
	g := mustNew(t, "a", "b: a", "c: b")
	cases := map[string]struct {
		reason         string
		u, v           int64
		fromTo, either bool
	}{
		"Forwards":  {reason: "An edge leads from need to dependant.", u: 0, v: 1, fromTo: true, either: true},
		"Backwards": {reason: "It does not lead back.", u: 1, v: 0, either: true},
		"TwoSteps":  {reason: "A path is not an edge.", u: 0, v: 2},
		"Self":      {reason: "No node has an edge to itself.", u: 1, v: 1},
		"Unknown":   {reason: "An unknown node has no edges.", u: 2, v: 3},
		"Negative":  {reason: "Nor has a negative number.", u: -1, v: 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := g.HasEdgeFromTo(tc.u, tc.v); got != tc.fromTo {
				t.Errorf("%s\nHasEdgeFromTo = %t, want %t", tc.reason, got, tc.fromTo)
			}
			if got := g.HasEdgeBetween(tc.u, tc.v); got != tc.either {
				t.Errorf("%s\nHasEdgeBetween = %t, want %t", tc.reason, got, tc.either)
			}
			edge := g.Edge(tc.u, tc.v)
			if (edge != nil) != tc.fromTo {
				t.Fatalf("%s\nEdge = %v, want one: %t", tc.reason, edge, tc.fromTo)
			}
			if edge != nil && (edge.From().ID() != tc.u || edge.To().ID() != tc.v || edge.ReversedEdge() != edge) {
				t.Errorf("%s\nEdge = %v -> %v", tc.reason, edge.From(), edge.To())
			}
		})
	}
	if g.Node(3) != nil || g.Node(-1) != nil {
		t.Error("Node() gave a node for a number that has none")
	}
	if got := g.Node(2).ID(); got != 2 {
		t.Errorf("Node(2).ID() = %d", got)
	}
}

func TestGonumMayReverseTheSliceBehindNodes(t *testing.T) {
	// topo.Sort reverses what Nodes() returns, in place.
	g := mustNew(t, "a", "b: a", "c: b")
	if _, err := topo.Sort(g); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{0, 1, 2}, numbers(g.Nodes())); diff != "" {
		t.Errorf("Nodes() after topo.Sort: -want, +got:\n%s", diff)
	}
	if got := names(g, g.Order()); got != "a b c" {
		t.Errorf("Order() = %q after topo.Sort", got)
	}
}

func TestGonumAlgorithmsWorkOnTheGraph(t *testing.T) {
	g := mustNew(t, "a", "b: a", "c: b", "d: a c")
	route, length := path.DijkstraFrom(g.Node(0), g).To(3)
	if length != 1 || len(route) != 2 {
		t.Errorf("shortest path from a to d = %v, length %v", route, length)
	}
}

func TestGonumWritesDOT(t *testing.T) {
	g := mustNew(t, `say "hi"`, `b: &a`, "a")
	out, err := dot.Marshal(g, "g", "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"say \"hi\"" [label="say \"hi\""]`, `"a" -> "b" [style=dashed]`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("DOT lacks %s:\n%s", want, out)
		}
	}
}
