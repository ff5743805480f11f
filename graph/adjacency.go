package graph

import "slices"

// adjacency is a compressed list of edges: those of node i are the entries
// start[i] to start[i+1] of to and, where reasons are kept, of reason.
type adjacency struct {
	start  []int32
	to     []int32
	reason []Reason
}

// of returns the nodes at the other end of the edges of node i.
func (a adjacency) of(i int32) []int32 {
	return a.to[a.start[i]:a.start[i+1]:a.start[i+1]]
}

// len returns the number of nodes.
func (a adjacency) len() int {
	return len(a.start) - 1
}

// has reports whether there is an edge of node i that leads to node to.
func (a adjacency) has(i, to int32) bool {
	return slices.Contains(a.of(i), to)
}

// without returns a without the inferred edges that drop names; it is a itself
// when there is no inferred edge at all.
func (a adjacency) without(drop func(from, to int32) bool) adjacency {
	if !slices.Contains(a.reason, Inferred) {
		return a
	}
	kept := adjacency{
		start:  make([]int32, 1, len(a.start)),
		to:     make([]int32, 0, len(a.to)),
		reason: make([]Reason, 0, len(a.to)),
	}
	for i := range int32(a.len()) {
		for k := a.start[i]; k < a.start[i+1]; k++ {
			if a.reason[k] == Inferred && drop(i, a.to[k]) {
				continue
			}
			kept.to = append(kept.to, a.to[k])
			kept.reason = append(kept.reason, a.reason[k])
		}
		kept.start = append(kept.start, int32(len(kept.to)))
	}
	return kept
}

// inverse returns the edges seen from their other ends, each node's by author
// order. Reasons are not carried over.
func (a adjacency) inverse() adjacency {
	inv := adjacency{start: make([]int32, len(a.start)), to: make([]int32, len(a.to))}
	for _, to := range a.to {
		inv.start[to+1]++
	}
	for i := range a.len() {
		inv.start[i+1] += inv.start[i]
	}
	next := make([]int32, a.len())
	copy(next, inv.start)
	for i := range int32(a.len()) {
		for _, to := range a.of(i) {
			inv.to[next[to]] = i
			next[to]++
		}
	}
	return inv
}

// adjacencyBuilder collects edges node after node.
type adjacencyBuilder struct {
	adjacency

	// seen[to] is one more than the last edge that led to node to. It belongs to
	// the current node when it is past start of that node: no reset per node.
	seen []int32
}

// newAdjacencyBuilder makes room for the edges of n nodes with these needs.
func newAdjacencyBuilder(n int, needs [][]Need) *adjacencyBuilder {
	edges := 0
	for _, list := range needs {
		edges += len(list)
	}
	return &adjacencyBuilder{
		adjacency: adjacency{
			start:  make([]int32, 1, n+1),
			to:     make([]int32, 0, edges),
			reason: make([]Reason, 0, edges),
		},
		seen: make([]int32, n),
	}
}

// add adds an edge to the current node; a second edge to the same node only
// strengthens the first one's reason.
func (b *adjacencyBuilder) add(to int32, r Reason) {
	begin := b.start[len(b.start)-1]
	if last := b.seen[to] - 1; last >= begin {
		b.reason[last] = min(b.reason[last], r)
		return
	}
	b.to = append(b.to, to)
	b.reason = append(b.reason, r)
	b.seen[to] = int32(len(b.to))
}

// endNode closes the current node; the next add belongs to its successor.
func (b *adjacencyBuilder) endNode() {
	b.start = append(b.start, int32(len(b.to)))
}
