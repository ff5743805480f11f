package graph

import (
	"errors"
	"slices"
)

// A Graph is a validated, immutable directed acyclic graph of nodes that hold a
// T. Nodes are numbered 0 to Len()-1 by their place in the author's list. Its
// methods may be called concurrently.
type Graph[T any] struct {
	*topology

	nodes []Node[T]
}

// New validates nodes and compiles them into a Graph. The slice is copied, the
// nodes' Needs and Payload are shared and must not be modified afterwards.
//
// All problems are found in one call, joined by errors.Join in a fixed order:
// a *DuplicateError per repeated ID, a *MissingError per absent declared or
// referenced need, a *CycleError per set of nodes that need each other, each by
// author order. Inferred needs are never a problem: those to absent nodes are
// ignored, and those that could close a cycle give way. Where nodes would need
// each other if all needs counted, the inferred needs among them that point
// backwards in the order of declared and referenced needs (ties by author
// order) are dropped and listed by Dropped. All others are kept, wherever the
// author listed their ends.
//
// It takes O(V+E) time and memory plus O(V log V) for the heap that keeps the
// author's order, and does not recurse.
func New[T any](nodes []Node[T]) (*Graph[T], error) {
	nodes = slices.Clone(nodes)
	ids := make([]ID, len(nodes))
	needs := make([][]Need, len(nodes))
	weights := make([]int64, len(nodes))
	for i := range nodes {
		ids[i], needs[i], weights[i] = nodes[i].ID, nodes[i].Needs, max(nodes[i].Weight, 1)
	}
	t, err := compile(ids, needs, weights)
	if err != nil {
		return nil, err
	}
	return &Graph[T]{topology: t, nodes: nodes}, nil
}

// At returns node i, which must not be modified. It panics, as an index into a
// slice does, when i is not a node of the graph.
func (g *Graph[T]) At(i int) *Node[T] {
	return &g.nodes[i]
}

// topology is all of a graph but its payloads, so that the code that works on
// it exists once and not once per T.
type topology struct {
	ids        []ID
	index      map[ID]int32
	needs      adjacency
	dependants adjacency
	order      []int32
	weights    []int64
	depth      []int32
	remaining  []int64
	dropped    []DroppedEdge
}

// compile builds the topology of nodes given column by column.
func compile(ids []ID, needs [][]Need, weights []int64) (*topology, error) {
	t := &topology{ids: ids, weights: weights}
	duplicates := t.number()
	all, missing := t.resolve(needs)
	strong := all.without(func(_, _ int32) bool { return true })
	order := sortByAuthor(strong, strong.inverse())
	cycles := findCycles(ids, strong, order)
	if err := errors.Join(slices.Concat(duplicates, missing, cycles)...); err != nil {
		return nil, err
	}
	t.needs = t.dropBackwards(all, order)
	t.dependants = t.needs.inverse()
	t.order = order
	if len(t.needs.to) > len(strong.to) {
		t.order = sortByAuthor(t.needs, t.dependants)
	}
	t.measure()
	return t, nil
}

// number fills the index and reports each repeated ID once; the first node of
// that ID stands for it in the checks that follow.
func (t *topology) number() []error {
	var problems []error
	reported := map[ID]bool{}
	t.index = make(map[ID]int32, len(t.ids))
	for i, id := range t.ids {
		if _, taken := t.index[id]; !taken {
			t.index[id] = int32(i)
			continue
		}
		if !reported[id] {
			reported[id] = true
			problems = append(problems, &DuplicateError{ID: id})
		}
	}
	return problems
}

// resolve turns needs into numbers, once per pair of nodes, and reports those
// that cannot be resolved and are not just inferred.
func (t *topology) resolve(needs [][]Need) (adjacency, []error) {
	var problems []error
	reported := map[MissingError]bool{}
	b := newAdjacencyBuilder(len(needs), needs)
	for i := range needs {
		for _, need := range needs[i] {
			reason := min(need.Reason, Inferred)
			if to, ok := t.index[need.ID]; ok {
				b.add(to, reason)
				continue
			}
			missing := MissingError{ID: t.ids[i], Need: need.ID}
			if reason != Inferred && !reported[missing] {
				reported[missing] = true
				problems = append(problems, &missing)
			}
		}
		b.endNode()
	}
	return b.adjacency, problems
}

// Len returns the number of nodes.
func (t *topology) Len() int {
	return len(t.ids)
}

// Index returns the number of the node named id, and whether there is one.
func (t *topology) Index(id ID) (int, bool) {
	i, ok := t.index[id]
	return int(i), ok
}

// Needs returns the nodes that node i needs, in the author's order. The slice
// is the graph's own and must not be modified.
func (t *topology) Needs(i int) []int32 {
	return t.needs.of(int32(i))
}

// NeedReason returns the reason of the k-th entry of Needs(i).
func (t *topology) NeedReason(i, k int) Reason {
	return t.needs.reason[int(t.needs.start[i])+k]
}

// Dependants returns the nodes that need node i, by author order. The slice is
// the graph's own and must not be modified.
func (t *topology) Dependants(i int) []int32 {
	return t.dependants.of(int32(i))
}

// Dropped returns the inferred needs that were left out because they could have
// closed a cycle, by author order.
func (t *topology) Dropped() []DroppedEdge {
	return slices.Clone(t.dropped)
}
