package graph_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"pgregory.net/rapid"

	"github.com/truss-dev/truss/graph"
)

// drawNodes draws nodes with unique IDs and any needs: repeated, inferred, on
// themselves, and, where absent is set, on nodes that are not there.
func drawNodes(t *rapid.T, absent bool) []graph.Node[int] {
	n := rapid.IntRange(0, 9).Draw(t, "nodes")
	targets := n
	if absent {
		targets++
	}
	nodes := make([]graph.Node[int], n)
	for i := range nodes {
		nodes[i] = graph.Node[int]{ID: number(i), Weight: rapid.Int64Range(-1, 5).Draw(t, "weight"), Payload: i}
		for range rapid.IntRange(0, 3).Draw(t, "needs") {
			nodes[i].Needs = append(nodes[i].Needs, graph.Need{
				ID:     number(rapid.IntRange(0, targets-1).Draw(t, "need")),
				Reason: graph.Reason(rapid.IntRange(0, 2).Draw(t, "reason")),
			})
		}
	}
	return nodes
}

// number names the i-th node of a drawn graph.
func number(i int) graph.ID {
	return graph.ID(fmt.Sprintf("n%d", i))
}

// An oracle is what the tests know of drawn nodes without New: the edges as a
// matrix, reason plus one, 0 for none.
type oracle struct {
	edges [][]graph.Reason
	ids   map[graph.ID]int
}

func newOracle(nodes []graph.Node[int]) oracle {
	o := oracle{edges: make([][]graph.Reason, len(nodes)), ids: map[graph.ID]int{}}
	for i := range nodes {
		o.ids[nodes[i].ID] = i
		o.edges[i] = make([]graph.Reason, len(nodes))
	}
	for i := range nodes {
		for _, need := range nodes[i].Needs {
			to, ok := o.ids[need.ID]
			if ok && (o.edges[i][to] == 0 || o.edges[i][to] > need.Reason+1) {
				o.edges[i][to] = need.Reason + 1
			}
		}
	}
	return o
}

// strong reports whether node i has a declared or referenced need of node to.
func (o oracle) strong(i, to int) bool {
	return o.edges[i][to] != 0 && o.edges[i][to] != graph.Inferred+1
}

// needs reports whether node i has a need of node to.
func (o oracle) needs(i, to int) bool {
	return o.edges[i][to] != 0
}

// digraph returns the edges that edge names, but for those of nodes to
// themselves, as a graph of gonum's own. Its edges run from node to need.
func (o oracle) digraph(edge func(i, to int) bool) *simple.DirectedGraph {
	g := simple.NewDirectedGraph()
	for i := range o.edges {
		g.AddNode(simple.Node(i))
	}
	for i := range o.edges {
		for to := range o.edges {
			if i != to && edge(i, to) {
				g.SetEdge(g.NewEdge(simple.Node(i), simple.Node(to)))
			}
		}
	}
	return g
}

// order is the naive way to the smallest order of the edges that edge names:
// always take the first node that may go, looking at all of them.
func (o oracle) order(edge func(i, to int) bool) []int {
	var order []int
	for len(order) < len(o.edges) {
		next := -1
		for i := range o.edges {
			if next < 0 && !slices.Contains(order, i) && o.free(i, order, edge) {
				next = i
			}
		}
		if next < 0 {
			return order
		}
		order = append(order, next)
	}
	return order
}

// free reports whether all needs of node i that edge names are in done.
func (o oracle) free(i int, done []int, edge func(i, to int) bool) bool {
	for to := range o.edges {
		if edge(i, to) && !slices.Contains(done, to) {
			return false
		}
	}
	return true
}

// cycles returns, for each cyclic component by its first node, that node and
// the length of a shortest cycle through it.
func (o oracle) cycles() [][2]int {
	var found [][2]int
	g := o.digraph(o.strong)
	for _, component := range topo.TarjanSCC(g) {
		first := slices.MinFunc(component, func(a, b gonum.Node) int { return int(a.ID() - b.ID()) })
		loops := slices.ContainsFunc(component, func(n gonum.Node) bool { return o.strong(int(n.ID()), int(n.ID())) })
		if len(component) > 1 || loops {
			found = append(found, [2]int{int(first.ID()), o.girth(g, int(first.ID()))})
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	return found
}

// girth returns the length of a shortest cycle through node i, 0 for none.
func (o oracle) girth(g *simple.DirectedGraph, i int) int {
	if o.strong(i, i) {
		return 1
	}
	shortest := 0
	for to := range o.edges {
		if !o.strong(i, to) {
			continue
		}
		back, length := path.DijkstraFrom(simple.Node(to), g).To(int64(i))
		if back != nil && (shortest == 0 || int(length)+1 < shortest) {
			shortest = int(length) + 1
		}
	}
	return shortest
}

func TestAnyGraphIsOrderedOrItsCyclesAreReal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawNodes(t, false)
		o := newOracle(nodes)
		g, err := graph.New(nodes)
		if cycles := o.cycles(); len(cycles) > 0 {
			checkCycles(t, o, cycles, err)
			return
		}
		if err != nil {
			t.Fatalf("New() = %v for a graph without cycles", err)
		}
		checkOrder(t, o, g)
		checkPriorities(t, g)
	})
}

// checkCycles compares the cycles of err with the oracle's.
func checkCycles(t *rapid.T, o oracle, want [][2]int, err error) {
	problems := unjoin(err)
	if len(problems) != len(want) {
		t.Fatalf("New() = %v, want %d cycles", err, len(want))
	}
	for k, problem := range problems {
		var cycle *graph.CycleError
		if !errors.As(problem, &cycle) {
			t.Fatalf("problem %d is %v, want a cycle", k, problem)
		}
		first, length := want[k][0], want[k][1]
		if len(cycle.Path) != length+1 || cycle.Path[0] != number(first) || cycle.Path[length] != number(first) {
			t.Fatalf("cycle %v, want one of length %d through %s", cycle.Path, length, number(first))
		}
		for s := range length {
			if !o.strong(o.ids[cycle.Path[s]], o.ids[cycle.Path[s+1]]) {
				t.Fatalf("cycle %v: %s does not need %s", cycle.Path, cycle.Path[s], cycle.Path[s+1])
			}
		}
	}
}

// drops returns the rule for inferred edges: those are dropped that point
// backwards in the order of the strong ones inside one component of all.
func (o oracle) drops() func(i, to int) bool {
	place := make([]int, len(o.edges))
	for k, i := range o.order(o.strong) {
		place[i] = k
	}
	component := make([]int, len(o.edges))
	for c, nodes := range topo.TarjanSCC(o.digraph(o.needs)) {
		for _, n := range nodes {
			component[n.ID()] = c
		}
	}
	return func(i, to int) bool {
		inferred := o.needs(i, to) && !o.strong(i, to)
		return inferred && place[to] >= place[i] && component[i] == component[to]
	}
}

// checkOrder compares order and edges of g with the oracle's.
func checkOrder(t *rapid.T, o oracle, g *graph.Graph[int]) {
	drops := o.drops()
	kept := func(i, to int) bool { return o.needs(i, to) && !drops(i, to) }
	want := o.order(kept)
	if !slices.EqualFunc(want, g.Order(), func(i int, j int32) bool { return i == int(j) }) {
		t.Fatalf("Order() = %v, want %v", g.Order(), want)
	}
	if _, err := topo.Sort(g); err != nil {
		t.Fatalf("gonum finds a cycle: %v", err)
	}
	var dropped []graph.DroppedEdge
	for i := range o.edges {
		for to := range o.edges[i] {
			if drops(i, to) {
				dropped = append(dropped, graph.DroppedEdge{ID: number(i), Need: number(to)})
			}
			if got, want := g.HasEdgeFromTo(int64(to), int64(i)), kept(i, to); got != want {
				t.Fatalf("edge from %s to %s: %t, want %t", number(to), number(i), got, want)
			}
		}
		for k, to := range g.Needs(i) {
			if g.NeedReason(i, k)+1 != o.edges[i][to] {
				t.Fatalf("%s needs %s: %v", number(i), number(int(to)), g.NeedReason(i, k))
			}
		}
	}
	if !sameEdges(dropped, g.Dropped()) {
		t.Fatalf("Dropped() = %v, want %v", g.Dropped(), dropped)
	}
}

// sameEdges compares without regard to order.
func sameEdges(a, b []graph.DroppedEdge) bool {
	compare := func(a, b graph.DroppedEdge) int {
		return slices.Compare([]graph.ID{a.ID, a.Need}, []graph.ID{b.ID, b.Need})
	}
	return slices.Equal(slices.SortedFunc(slices.Values(a), compare), slices.SortedFunc(slices.Values(b), compare))
}

// checkPriorities compares Depth, Remaining and CriticalPath with all paths.
func checkPriorities(t *rapid.T, g *graph.Graph[int]) {
	var depth func(i int) int
	depth = func(i int) (deepest int) {
		for _, need := range g.Needs(i) {
			deepest = max(deepest, depth(int(need))+1)
		}
		return deepest
	}
	var heaviest int64
	for i := range g.Len() {
		if got, want := g.Depth(i), depth(i); got != want {
			t.Fatalf("Depth(%d) = %d, want %d", i, got, want)
		}
		if got, want := g.Remaining(i), heaviestFrom(g, i); got != want {
			t.Fatalf("Remaining(%d) = %d, want %d", i, got, want)
		}
		heaviest = max(heaviest, g.Remaining(i))
	}
	var weight int64
	critical := g.CriticalPath()
	for k, i := range critical {
		weight += max(g.At(int(i)).Weight, 1)
		if k > 0 && !g.HasEdgeFromTo(int64(critical[k-1]), int64(i)) {
			t.Fatalf("CriticalPath() = %v is not a path", critical)
		}
	}
	if weight != heaviest {
		t.Fatalf("CriticalPath() weighs %d, the heaviest path %d", weight, heaviest)
	}
}

// heaviestFrom walks all paths from node i along dependants.
func heaviestFrom(g *graph.Graph[int], i int) int64 {
	var rest int64
	for _, d := range g.Dependants(i) {
		rest = max(rest, heaviestFrom(g, int(d)))
	}
	return rest + max(g.At(i).Weight, 1)
}

func TestExactlyTheAbsentStrongNeedsAreMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawNodes(t, true)
		o := newOracle(nodes)
		var want, got []graph.MissingError
		for i := range nodes {
			for _, need := range nodes[i].Needs {
				missing := graph.MissingError{ID: nodes[i].ID, Need: need.ID}
				_, ok := o.ids[need.ID]
				if !ok && need.Reason != graph.Inferred && !slices.Contains(want, missing) {
					want = append(want, missing)
				}
			}
		}
		_, err := graph.New(nodes)
		for _, problem := range unjoin(err) {
			if missing, ok := errors.AsType[*graph.MissingError](problem); ok {
				got = append(got, *missing)
			}
		}
		if !slices.Equal(want, got) {
			t.Fatalf("missing: %v, want %v", got, want)
		}
	})
}
