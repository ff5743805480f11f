package graph

import (
	"math"
	"slices"
)

// measure fills depth and remaining from the order and the weights, each of which
// is at least 1.
func (t *topology) measure() {
	t.depth = make([]int32, t.Len())
	for _, i := range t.order {
		for _, need := range t.needs.of(i) {
			t.depth[i] = max(t.depth[i], t.depth[need]+1)
		}
	}
	t.remaining = make([]int64, t.Len())
	for _, i := range slices.Backward(t.order) {
		for _, d := range t.dependants.of(i) {
			t.remaining[i] = max(t.remaining[i], t.remaining[d])
		}
		t.remaining[i] = saturatingAdd(t.remaining[i], t.weights[i])
	}
}

// saturatingAdd adds two numbers that are not negative; where the sum does not
// fit it is the largest number, so that absurd weights cannot turn priorities
// round.
func saturatingAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Depth returns the number of edges of the longest chain of needs below node i;
// it is 0 for a node without needs.
func (t *topology) Depth(i int) int {
	return int(t.depth[i])
}

// Remaining returns the weight of the heaviest path that starts at node i and
// follows dependants, i included. It is the priority of node i in a Run.
func (t *topology) Remaining(i int) int64 {
	return t.remaining[i]
}

// CriticalPath returns the heaviest path of the graph, from a node without
// needs to one without dependants. Of equally heavy ones it is the one whose
// nodes the author listed first. It costs O(V) plus the path's dependants.
func (t *topology) CriticalPath() []int32 {
	var path []int32
	// The first of the heaviest nodes in t.order has no needs: they would be as
	// heavy and come before it.
	next, ok := t.heaviest(t.order)
	for ok {
		path = append(path, next)
		next, ok = t.heaviest(t.dependants.of(next))
	}
	return path
}

// heaviest returns the first of nodes that has the most remaining weight; ok is
// false when there are none.
func (t *topology) heaviest(nodes []int32) (best int32, ok bool) {
	for _, i := range nodes {
		if !ok || t.remaining[i] > t.remaining[best] {
			best, ok = i, true
		}
	}
	return best, ok
}
