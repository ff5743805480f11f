package inventory_test

import (
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"pgregory.net/rapid"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// objects is how many different objects drawn plans are about.
const objects = 7

// drawPlan draws a plan over some of the objects. In a sound one, as compilers
// make them, there is no cycle, in author order or not; in any other one
// objects need what they like, themselves too.
func drawPlan(t *rapid.T, sound bool) *inventory.Plan {
	listed := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6}).Draw(t, "objects")[:rapid.IntRange(0, objects).Draw(t, "entries")]
	rank := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6}).Draw(t, "ranks")
	p := &inventory.Plan{Entries: make([]inventory.Entry, len(listed))}
	for i, object := range listed {
		e := &p.Entries[i]
		*e = inventory.Entry{Identity: nth(object), Version: "v1", Resource: "configmaps"}
		if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
			e.Resource = ""
		}
		for range rapid.IntRange(0, 2).Draw(t, "needs") {
			need := rapid.IntRange(0, len(listed)-1).Draw(t, "need")
			if !sound || rank[listed[need]] < rank[object] {
				e.Needs = append(e.Needs, int32(need))
			}
		}
	}
	measure(p)
	return p
}

// nth is the identity of an object of a drawn plan.
func nth(object int) resource.Identity {
	return identityOf(string(rune('a' + object)))
}

// drawPlans draws plans, newest first; the newest is sound, the older ones are
// when sound is set.
func drawPlans(t *rapid.T, sound bool) []*inventory.Plan {
	plans := []*inventory.Plan{drawPlan(t, true)}
	for range rapid.IntRange(0, 3).Draw(t, "older plans") {
		plans = append(plans, drawPlan(t, sound))
	}
	return plans
}

// A pair is a need of a plan by its ends.
type pair struct{ dependant, need resource.Identity }

// pairs returns the needs of a plan.
func pairs(p *inventory.Plan) map[pair]bool {
	found := map[pair]bool{}
	for _, e := range p.Entries {
		for _, n := range e.Needs {
			found[pair{e.Identity, p.Entries[n].Identity}] = true
		}
	}
	return found
}

// holds reports whether a plan lists an object.
func holds(p *inventory.Plan, id resource.Identity) bool {
	return slices.ContainsFunc(p.Entries, func(e inventory.Entry) bool { return e.Identity == id })
}

// decided returns what should hold between the objects of g: each pair as the
// newest plan says that has both ends. It looks at all pairs and all plans.
func decided(plans []*inventory.Plan, g *graph.Graph[inventory.Entry]) map[pair]bool {
	want := map[pair]bool{}
	for i := range g.Len() {
		for k := range g.Len() {
			edge := pair{g.At(i).Payload.Identity, g.At(k).Payload.Identity}
			for _, p := range plans {
				if !holds(p, edge.dependant) || !holds(p, edge.need) {
					continue
				}
				if pairs(p)[edge] {
					want[edge] = true
				}
				break
			}
		}
	}
	return want
}

// cyclic reports whether there is a cycle in a set of pairs.
func cyclic(edges map[pair]bool, g *graph.Graph[inventory.Entry]) bool {
	d := simple.NewDirectedGraph()
	for edge := range edges {
		if edge.dependant == edge.need {
			return true
		}
		from, _ := g.Index(inventory.NodeID(edge.dependant))
		to, _ := g.Index(inventory.NodeID(edge.need))
		d.SetEdge(simple.Edge{F: simple.Node(from), T: simple.Node(to)})
	}
	_, err := topo.Sort(d)
	return err != nil
}

func TestReverseFollowsTheNewestPlanThatKnowsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plans := drawPlans(t, rapid.Bool().Draw(t, "sound"))
		g, err := inventory.Reverse(plans, everything)
		if err != nil {
			t.Fatalf("Reverse() = %v", err)
		}
		checkObjects(t, plans, g)
		want := decided(plans, g)
		got := map[pair]bool{}
		for i := range g.Len() {
			for _, first := range g.Needs(i) {
				got[pair{dependant: g.At(int(first)).Payload.Identity, need: g.At(i).Payload.Identity}] = true
			}
		}
		for edge := range got {
			if !want[edge] {
				t.Fatalf("%s waits for %s, which no plan that decides says", edge.need, edge.dependant)
			}
		}
		contradiction := cyclic(want, g)
		for edge := range want {
			if !got[edge] && (!contradiction || pairs(plans[0])[edge]) {
				t.Fatalf("%s does not wait for %s; contradiction: %t", edge.need, edge.dependant, contradiction)
			}
		}
	})
}

// checkObjects checks that g has each object that may have been written, once,
// and no other.
func checkObjects(t *rapid.T, plans []*inventory.Plan, g *graph.Graph[inventory.Entry]) {
	want := map[resource.Identity]bool{}
	for _, p := range plans {
		for _, e := range p.Entries {
			if e.Resource != "" {
				want[e.Identity] = true
			}
		}
	}
	got := map[resource.Identity]bool{}
	for i := range g.Len() {
		got[g.At(i).Payload.Identity] = true
	}
	if !maps.Equal(want, got) || len(got) != g.Len() {
		t.Fatalf("%d nodes for %v, want %v", g.Len(), got, want)
	}
}

func TestReverseIsTheSameEveryTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plans := drawPlans(t, false)
		var first string
		for k := range 5 {
			g, err := inventory.Reverse(plans, everything)
			if err != nil {
				t.Fatal(err)
			}
			if got := removal(g); k > 0 && got != first {
				t.Fatalf("Reverse() = %q, was %q before", got, first)
			} else {
				first = got
			}
		}
	})
}

func TestReverseOfPartsHoldsOnlyTheParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plans := drawPlans(t, false)
		kept := nth(rapid.IntRange(0, objects-1).Draw(t, "kept"))
		g, err := inventory.Reverse(plans, func(id resource.Identity) bool { return id != kept })
		if err != nil {
			t.Fatal(err)
		}
		if i, ok := g.Index(inventory.NodeID(kept)); ok {
			t.Fatalf("node %d is %s, which is not to be taken down", i, kept)
		}
	})
}
