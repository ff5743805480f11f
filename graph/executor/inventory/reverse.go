package inventory

import (
	"fmt"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// Reverse makes the graph that takes objects down: each object needs all of
// its dependants to be gone first. plans are newest first; include chooses
// the objects. Where plans differ, the newest one that contains both ends of
// an edge decides. Entries of unknown plural were never written and are left
// out. No plan, however forged, makes a cycle. O(sum of V+E).
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

// NodeID is the ID of an object's node in a reversed graph. It differs for any
// two identities, whatever a forged record says.
func NodeID(id resource.Identity) graph.ID {
	return graph.ID(fmt.Sprintf("%q.%q %q/%q", id.Kind, id.Group, id.Namespace, id.Name))
}

type merger struct {
	nodes []graph.Node[Entry]
	index map[resource.Identity]int
	// members[k] holds the identities of plan k with their depths.
	members []map[resource.Identity]int32
}

func (m *merger) add(p *Plan, include func(resource.Identity) bool) {
	members := make(map[resource.Identity]int32, len(p.Entries))
	m.members = append(m.members, members)
	for i := range p.Entries {
		e := p.Entries[i]
		if _, repeated := members[e.Identity]; !repeated {
			members[e.Identity] = e.Depth
		}
		if _, known := m.index[e.Identity]; known || e.Resource == "" || !include(e.Identity) {
			continue
		}
		m.index[e.Identity] = len(m.nodes)
		m.nodes = append(m.nodes, graph.Node[Entry]{ID: NodeID(e.Identity), Payload: e})
	}
}

// link adds plan k's edges, unless a newer plan holds both ends and so has
// decided already. Edges of older plans are inferred ones: the graph drops
// what would contradict the newest. So are edges of a newest plan that does not
// grow deeper along them: no compiler made it, and they could close a cycle.
func (m *merger) link(p *Plan, k int, newer []*Plan) {
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
			reason := graph.Inferred
			if k == 0 && m.members[0][need] < m.members[0][dependant] {
				reason = graph.Declared
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
