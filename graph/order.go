package graph

// sortByAuthor returns the nodes so that each comes after its needs and, where
// that leaves a choice, in the author's order. It is Kahn's algorithm with a
// min-heap on the author's position instead of a queue: O((V+E) + V log V). The
// result is the lexicographically smallest order there is. Nodes on a cycle, and
// those that need them, are left out.
func sortByAuthor(needs, dependants adjacency) []int32 {
	n := needs.len()
	order := make([]int32, 0, n)
	waiting := make([]int32, n)
	ready := newHeap(n, nil)
	for i := range int32(n) {
		waiting[i] = int32(len(needs.of(i)))
		if waiting[i] == 0 {
			ready.push(i)
		}
	}
	for ready.len() > 0 {
		i := ready.pop()
		order = append(order, i)
		for _, d := range dependants.of(i) {
			waiting[d]--
			if waiting[d] == 0 {
				ready.push(d)
			}
		}
	}
	return order
}

// dropBackwards removes the inferred edges that point backwards in order, which
// holds the declared and referenced ones, and whose ends lie in one strongly
// connected component of all edges. It lists them in t.dropped. What stays is
// acyclic: a cycle would lie in one component, where every edge that stays
// points forwards in that one order. O(V+E).
func (t *topology) dropBackwards(all adjacency, order []int32) adjacency {
	place := make([]int32, len(order))
	for k, i := range order {
		place[i] = int32(k)
	}
	// Most graphs are ordered well or infer nothing: they need no search.
	var c *components
	return all.without(func(from, to int32) bool {
		if place[to] < place[from] {
			return false
		}
		if c == nil {
			c = findComponents(all, nil)
		}
		if c.of[from] != c.of[to] {
			return false
		}
		t.dropped = append(t.dropped, DroppedEdge{ID: t.ids[from], Need: t.ids[to]})
		return true
	})
}

// Order returns the nodes so that each comes after its needs; ties keep the
// author's order. The slice is the graph's own and must not be modified. It was
// computed by New with Kahn's algorithm and a min-heap on author positions.
func (t *topology) Order() []int32 {
	return t.order
}
