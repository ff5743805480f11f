package graph_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/truss-dev/truss/graph"
)

// A model is a Run as one would write it without a thought for cost: after each
// step it looks at the whole graph again.
type model struct {
	graph      *graph.Graph[int]
	nodes      []modelNode
	drained    []graph.State
	superseded bool
}

// A modelNode is what the model knows of one node.
type modelNode struct {
	outcome                              graph.Outcome
	state                                graph.State
	dirty, flying, interrupted, upToDate bool
}

func newModel(g *graph.Graph[int]) *model {
	m := &model{graph: g, nodes: make([]modelNode, g.Len())}
	for i := range m.nodes {
		m.nodes[i].dirty = true
		m.nodes[i].state = m.effective(i)
	}
	m.drained = m.states()
	return m
}

func releases(s graph.State) bool {
	return s == graph.Ready || s == graph.Excluded
}

func (m *model) states() []graph.State {
	states := make([]graph.State, len(m.nodes))
	for i := range m.nodes {
		states[i] = m.nodes[i].state
	}
	return states
}

// blockers returns the needs of node i that do not release it, sorted.
func (m *model) blockers(i int) []graph.ID {
	var ids []graph.ID
	for _, need := range m.graph.Needs(i) {
		if !releases(m.nodes[need].state) {
			ids = append(ids, m.graph.At(int(need)).ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (m *model) effective(i int) graph.State {
	switch {
	case len(m.blockers(i)) > 0:
		return graph.Blocked
	case !m.nodes[i].upToDate:
		return graph.InProgress
	default:
		return m.nodes[i].outcome.State
	}
}

func (m *model) set(i int, o graph.Outcome) {
	n := &m.nodes[i]
	before := m.states()
	n.upToDate = n.state != graph.Blocked && !(n.flying && n.interrupted)
	n.flying = false
	n.outcome = o
	if o.State == graph.Blocked {
		n.outcome.State = graph.InProgress
	}
	m.rescan(before, i, o.Changed)
}

// rescan brings every node up to date, needs first, after node cause stepped.
func (m *model) rescan(before []graph.State, cause int, changed bool) {
	for _, i := range m.graph.Order() {
		n := &m.nodes[i]
		for _, need := range m.graph.Needs(int(i)) {
			was, now := before[need], m.nodes[need].state
			if releases(was) && !releases(now) {
				n.dirty, n.upToDate, n.interrupted = true, false, true
			}
			if releases(now) && (was != now || (changed && int(need) == cause)) {
				n.dirty = true
			}
		}
		n.state = m.effective(int(i))
	}
}

// actionable returns the nodes that may act.
func (m *model) actionable() []int {
	var nodes []int
	for i, n := range m.nodes {
		if n.dirty && !n.flying && n.state != graph.Blocked {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// next is what Next should do.
func (m *model) next() (best int, ok bool) {
	if m.superseded {
		return 0, false
	}
	for _, i := range m.actionable() {
		if !ok || m.graph.Remaining(i) > m.graph.Remaining(best) {
			best, ok = i, true
		}
	}
	if ok {
		n := &m.nodes[best]
		n.dirty, n.flying, n.interrupted = false, true, false
	}
	return best, ok
}

func (m *model) flying() (nodes []int) {
	for i, n := range m.nodes {
		if n.flying {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

func (m *model) counts() graph.Counts {
	c := graph.Counts{Total: len(m.nodes)}
	field := map[graph.State]*int{
		graph.Blocked: &c.Blocked, graph.InProgress: &c.InProgress, graph.Ready: &c.Ready,
		graph.Error: &c.Error, graph.Excluded: &c.Excluded,
	}
	for _, n := range m.nodes {
		*field[n.state]++
	}
	return c
}

// check compares everything that can be asked of a Run.
func (m *model) check(t *rapid.T, r *graph.Run) {
	if diff := cmp.Diff(m.states(), r.States()); diff != "" {
		t.Fatalf("states: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(m.counts(), r.Counts()); diff != "" {
		t.Fatalf("counts: -want, +got:\n%s", diff)
	}
	for i, n := range m.nodes {
		if diff := cmp.Diff(m.blockers(i), r.BlockedBy(i)); diff != "" {
			t.Fatalf("BlockedBy(%d): -want, +got:\n%s", i, diff)
		}
		if r.State(i) != n.state || r.Outcome(i) != n.outcome {
			t.Fatalf("node %d: %v, %+v; want %v, %+v", i, r.State(i), r.Outcome(i), n.state, n.outcome)
		}
	}
	if got, want := r.InFlight(), len(m.flying()); got != want {
		t.Fatalf("InFlight() = %d, want %d", got, want)
	}
	want := len(m.flying()) > 0 || (!m.superseded && len(m.actionable()) > 0)
	if got := r.Pending(); got != want {
		t.Fatalf("Pending() = %t, want %t", got, want)
	}
}

// drain compares what changed since the last time, without regard to order.
func (m *model) drain(t *rapid.T, r *graph.Run) {
	var want []graph.Transition
	for i, now := range m.states() {
		if now != m.drained[i] {
			want = append(want, graph.Transition{Index: i, From: m.drained[i], To: now})
		}
	}
	m.drained = m.states()
	got := r.Drain()
	slices.SortFunc(got, func(a, b graph.Transition) int { return a.Index - b.Index })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("Drain(): -want, +got:\n%s", diff)
	}
}

// drawOutcome draws an outcome, most of them good so that walks get somewhere.
func drawOutcome(t *rapid.T) graph.Outcome {
	states := []graph.State{
		graph.Ready, graph.Ready, graph.Ready, graph.InProgress, graph.Error, graph.Excluded, graph.Blocked,
	}
	return graph.Outcome{
		State:    rapid.SampledFrom(states).Draw(t, "state"),
		Changed:  rapid.Bool().Draw(t, "changed"),
		Terminal: rapid.Bool().Draw(t, "terminal"),
	}
}

// drawDAG draws nodes of which each may need only earlier ones.
func drawDAG(t *rapid.T) *graph.Graph[int] {
	nodes := make([]graph.Node[int], rapid.IntRange(1, 12).Draw(t, "nodes"))
	for i := range nodes {
		nodes[i] = graph.Node[int]{ID: number(i), Weight: rapid.Int64Range(1, 3).Draw(t, "weight")}
		for range min(i, rapid.IntRange(0, 3).Draw(t, "needs")) {
			need := number(rapid.IntRange(0, i-1).Draw(t, "need"))
			nodes[i].Needs = append(nodes[i].Needs, graph.Need{ID: need})
		}
	}
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRunAgreesWithTheModelThatRescansEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawDAG(t)
		m, r := newModel(g), graph.NewRun(g)
		node := rapid.IntRange(0, g.Len()-1)
		next := func(t *rapid.T) {
			want, wantOK := m.next()
			if got, ok := r.Next(); got != want || ok != wantOK {
				t.Fatalf("Next() = %d, %t, want %d, %t", got, ok, want, wantOK)
			}
		}
		land := func(t *rapid.T) {
			flying := m.flying()
			if len(flying) == 0 {
				t.Skip("nothing in flight")
			}
			i, o := rapid.SampledFrom(flying).Draw(t, "flying"), drawOutcome(t)
			m.set(i, o)
			r.Set(i, o)
		}
		t.Repeat(map[string]func(*rapid.T){
			"next": next, "next more": next, "land": land, "land more": land,
			"set": func(t *rapid.T) {
				i, o := node.Draw(t, "node"), drawOutcome(t)
				m.set(i, o)
				r.Set(i, o)
			},
			"touch": func(t *rapid.T) {
				i := node.Draw(t, "node")
				m.nodes[i].dirty = true
				r.Touch(i)
			},
			"resync": func(*rapid.T) {
				for i := range m.nodes {
					m.nodes[i].dirty = true
				}
				r.TouchAll()
			},
			"drain": func(t *rapid.T) { m.drain(t, r) },
			"supersede": func(t *rapid.T) {
				if rapid.IntRange(0, 19).Draw(t, "supersede") > 0 {
					t.Skip("a superseded run has little to show")
				}
				m.superseded = true
				r.Supersede()
			},
			"": func(t *rapid.T) { m.check(t, r) },
		})
	})
}

func TestEveryRunOfReadyNodesEndsDoneInAnOrderOfTheGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawDAG(t)
		r := graph.NewRun(g)
		var acted []int32
		for i, ok := r.Next(); ok; i, ok = r.Next() {
			for _, need := range g.Needs(i) {
				if !slices.Contains(acted, need) {
					t.Fatalf("%s acts before its need %s", number(i), number(int(need)))
				}
			}
			acted = append(acted, int32(i))
			r.Set(i, graph.Outcome{State: graph.Ready, Changed: true})
		}
		if len(acted) != g.Len() || !r.Counts().Done() || r.Pending() {
			t.Fatalf("%d of %d nodes acted, counts %+v", len(acted), g.Len(), r.Counts())
		}
	})
}
