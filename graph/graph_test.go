package graph_test

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/truss-dev/truss/graph"
)

// parse builds nodes from "id: need ?inferred &referenced" lines, one per node.
func parse(lines ...string) []graph.Node[string] {
	var nodes []graph.Node[string]
	for _, line := range lines {
		id, needs, _ := strings.Cut(line, ":")
		node := graph.Node[string]{ID: graph.ID(id), Payload: "payload of " + id}
		for word := range strings.FieldsSeq(needs) {
			node.Needs = append(node.Needs, parseNeed(word))
		}
		nodes = append(nodes, node)
	}
	return nodes
}

func parseNeed(word string) graph.Need {
	switch word[0] {
	case '?':
		return graph.Need{ID: graph.ID(word[1:]), Reason: graph.Inferred}
	case '&':
		return graph.Need{ID: graph.ID(word[1:]), Reason: graph.Referenced}
	default:
		return graph.Need{ID: graph.ID(word), Reason: graph.Declared}
	}
}

// mustNew builds a graph that the test knows to be valid.
func mustNew(t testing.TB, lines ...string) *graph.Graph[string] {
	t.Helper()
	g, err := graph.New(parse(lines...))
	if err != nil {
		t.Fatalf("New(%q): unexpected error: %v", lines, err)
	}
	return g
}

// names spells node numbers out: "a b c".
func names[T any](g *graph.Graph[T], nodes []int32) string {
	words := make([]string, len(nodes))
	for k, i := range nodes {
		words[k] = string(g.At(int(i)).ID)
	}
	return strings.Join(words, " ")
}

func TestOrderPutsNeedsFirstAndKeepsTheAuthorsOrder(t *testing.T) {
	cases := map[string]struct {
		reason string
		nodes  []string
		want   string
	}{
		"Empty": {
			reason: "A graph without nodes is valid and has an empty order.",
		},
		"Chain": {
			reason: "S47: a chain given backwards comes out from its end.",
			nodes:  []string{"a: b", "b: c", "c: d", "d"},
			want:   "d c b a",
		},
		"Shared": {
			reason: "S48: a need of two nodes comes once, before both, which keep their order.",
			nodes:  []string{"a: c", "b: c", "c"},
			want:   "c a b",
		},
		"MixedWithUnconnected": {
			reason: "S49: a node without edges keeps its place among those that could be there.",
			nodes:  []string{"a", "lone", "b: a c", "c: a"},
			want:   "a lone c b",
		},
		"IndependentKeepOrder": {
			reason: "S58: independent nodes come in the author's order, whatever their names.",
			nodes:  []string{"z", "m", "a", "q"},
			want:   "z m a q",
		},
		"AlreadyOrdered": {
			reason: "S58: an order that was right already is not touched.",
			nodes:  []string{"z", "y: z", "b", "a: b y"},
			want:   "z y b a",
		},
		"AllReasonsCount": {
			reason: "An edge orders whatever its reason.",
			nodes:  []string{"x", "a: ?x", "b: &a", "c: b"},
			want:   "x a b c",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := mustNew(t, tc.nodes...)
			if got := names(g, g.Order()); got != tc.want {
				t.Errorf("%s\nOrder() = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestOrderIsTheSameEveryTime(t *testing.T) {
	// S54: 101 runs, one order.
	lines := []string{"a: f", "b: d c", "c: e", "d: e", "e", "f: e", "g", "h: a g"}
	want := names(mustNew(t, lines...), mustNew(t, lines...).Order())
	for range 101 {
		g := mustNew(t, lines...)
		if got := names(g, g.Order()); got != want {
			t.Fatalf("Order() = %q, was %q before", got, want)
		}
	}
}

func TestDependantsLeadBackToTheRoots(t *testing.T) {
	cases := map[string]struct {
		reason string
		nodes  []string
		of     graph.ID
		want   string
	}{
		"Chain":     {reason: "S55: the incoming edge of a chain's end.", nodes: []string{"a: b", "b: c", "c"}, of: "c", want: "b"},
		"Root":      {reason: "S56: nothing needs the first node.", nodes: []string{"a: b", "b: c", "c"}, of: "a"},
		"FanIn":     {reason: "S57: all three dependants, by author order.", nodes: []string{"z: d", "d", "a: d", "m: d"}, of: "d", want: "z a m"},
		"Duplicate": {reason: "A need named twice makes one edge.", nodes: []string{"a: b &b ?b", "b"}, of: "b", want: "a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := mustNew(t, tc.nodes...)
			i, ok := g.Index(tc.of)
			if !ok {
				t.Fatalf("Index(%q) found nothing", tc.of)
			}
			if got := names(g, g.Dependants(i)); got != tc.want {
				t.Errorf("%s\nDependants(%s) = %q, want %q", tc.reason, tc.of, got, tc.want)
			}
		})
	}
}

func TestNeedsKeepOrderAndStrongestReason(t *testing.T) {
	g := mustNew(t, "a", "b", "c", "d: ?c b &c ?a a")
	d, _ := g.Index("d")
	if got, want := names(g, g.Needs(d)), "c b a"; got != want {
		t.Errorf("Needs(d) = %q, want %q", got, want)
	}
	want := []graph.Reason{graph.Referenced, graph.Declared, graph.Declared}
	for k, reason := range want {
		if got := g.NeedReason(d, k); got != reason {
			t.Errorf("NeedReason(d, %d) = %v, want %v", k, got, reason)
		}
	}
}

func TestNodesAreFoundByNumberAndID(t *testing.T) {
	g := mustNew(t, "a", "b: a")
	if g.Len() != 2 {
		t.Errorf("Len() = %d, want 2", g.Len())
	}
	if i, ok := g.Index("b"); i != 1 || !ok {
		t.Errorf("Index(b) = %d, %t, want 1, true", i, ok)
	}
	if _, ok := g.Index("ghost"); ok {
		t.Error("Index(ghost) found a node")
	}
	if got := g.At(1).Payload; got != "payload of b" {
		t.Errorf("At(1).Payload = %q", got)
	}
}

func TestNewDoesNotKeepTheCallersSlice(t *testing.T) {
	nodes := parse("a", "b: a")
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	nodes[0].ID = "changed"
	if got := g.At(0).ID; got != "a" {
		t.Errorf("At(0).ID = %q after the caller changed its slice, want a", got)
	}
}

func TestDeepChainsDoNotGrowTheStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(256 << 10))
	const n = 100_000
	nodes := make([]graph.Node[struct{}], n)
	for i := range nodes {
		nodes[i].ID = graph.ID(fmt.Sprint(i))
		if i+1 < n {
			nodes[i].Needs = []graph.Need{{ID: graph.ID(fmt.Sprint(i + 1))}}
		}
	}
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Depth(0); got != n-1 {
		t.Errorf("Depth(0) = %d, want %d", got, n-1)
	}
	if got := len(g.CriticalPath()); got != n {
		t.Errorf("critical path has %d nodes, want %d", got, n)
	}

	nodes[n-1].Needs = []graph.Need{{ID: "0"}}
	_, err = graph.New(nodes)
	var cycle *graph.CycleError
	if !errors.As(err, &cycle) || len(cycle.Path) != n+1 {
		t.Errorf("New() of a closed chain: %.200v, want a cycle of %d nodes", err, n)
	}
}
