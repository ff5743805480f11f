package inventory

import (
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// Reverse makes the graph that takes objects down: each object needs all of
// its dependants to be gone first. plans are newest first; include chooses
// the objects. Where plans differ, the newest one that contains both ends of
// an edge decides. Entries of unknown plural were never written and are left
// out. O(sum of V+E).
func Reverse(plans []*Plan, include func(resource.Identity) bool) (*graph.Graph[Entry], error) {
	m := merger{index: map[resource.Identity]int{}}
	for _, p := range plans {
		m.add(p, include)
	}
	for k, p := range plans {
		m.link(p, k, plans[:k])
	}
	return graph.New(m.nodes)
}

type merger struct {
	nodes []graph.Node[Entry]
	index map[resource.Identity]int
	// members[k] holds the identities of plan k.
	members []map[resource.Identity]struct{}
}

func (m *merger) add(p *Plan, include func(resource.Identity) bool) {
	members := make(map[resource.Identity]struct{}, len(p.Entries))
	m.members = append(m.members, members)
	for i := range p.Entries {
		e := p.Entries[i]
		members[e.Identity] = struct{}{}
		if _, known := m.index[e.Identity]; known || e.Resource == "" || !include(e.Identity) {
			continue
		}
		m.index[e.Identity] = len(m.nodes)
		m.nodes = append(m.nodes, graph.Node[Entry]{ID: graph.ID(e.Identity.String()), Payload: e})
	}
}

// link adds plan k's edges, unless a newer plan holds both ends and so has
// decided already. Edges of older plans are inferred ones: the graph drops
// what would contradict the newest.
func (m *merger) link(p *Plan, k int, newer []*Plan) {
	reason := graph.Declared
	if k > 0 {
		reason = graph.Inferred
	}
	for i := range p.Entries {
		dependant := p.Entries[i].Identity
		from, ok := m.index[dependant]
		if !ok {
			continue
		}
		for _, n := range p.Entries[i].Needs {
			need := p.Entries[n].Identity
			to, ok := m.index[need]
			if !ok || m.decided(dependant, need, len(newer)) {
				continue
			}
			m.nodes[to].Needs = append(m.nodes[to].Needs, graph.Need{ID: m.nodes[from].ID, Reason: reason})
		}
	}
}

func (m *merger) decided(a, b resource.Identity, newer int) bool {
	for _, members := range m.members[:newer] {
		_, hasA := members[a]
		_, hasB := members[b]
		if hasA && hasB {
			return true
		}
	}
	return false
}
