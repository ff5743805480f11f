package graph

// heap is a binary heap of node numbers that knows where each of them is. The
// heaviest comes out first; equally heavy ones by number.
type heap struct {
	items []int32
	// slot is one more than the node's place in items; 0 means it is not there.
	slot []int32
	// weight is each node's weight; nil means that all weigh the same.
	weight []int64
}

// newHeap returns an empty heap for the nodes 0 to n-1.
func newHeap(n int, weight []int64) *heap {
	return &heap{slot: make([]int32, n), weight: weight}
}

// len returns the number of nodes in the heap.
func (h *heap) len() int {
	return len(h.items)
}

// push adds node i, in O(log len); it does nothing when i is there already.
func (h *heap) push(i int32) {
	if h.slot[i] != 0 {
		return
	}
	h.items = append(h.items, i)
	h.up(len(h.items) - 1)
}

// pop takes out the first node, in O(log len). The heap must not be empty.
func (h *heap) pop() int32 {
	first := h.items[0]
	h.remove(first)
	return first
}

// remove takes node i out, in O(log len); it does nothing when i is not there.
func (h *heap) remove(i int32) {
	k := int(h.slot[i]) - 1
	if k < 0 {
		return
	}
	last := len(h.items) - 1
	moved := h.items[last]
	h.items = h.items[:last]
	h.slot[i] = 0
	if k == last {
		return
	}
	h.place(moved, k)
	h.down(k)
	h.up(int(h.slot[moved]) - 1)
}

// before reports whether node a comes out before node b.
func (h *heap) before(a, b int32) bool {
	if h.weight != nil && h.weight[a] != h.weight[b] {
		return h.weight[a] > h.weight[b]
	}
	return a < b
}

// place puts node i at place k.
func (h *heap) place(i int32, k int) {
	h.items[k] = i
	h.slot[i] = int32(k) + 1
}

// up moves the node at place k towards the top until its parent is before it.
func (h *heap) up(k int) {
	i := h.items[k]
	for k > 0 {
		parent := (k - 1) / 2
		if !h.before(i, h.items[parent]) {
			break
		}
		h.place(h.items[parent], k)
		k = parent
	}
	h.place(i, k)
}

// down moves the node at place k away from the top until it is before its
// children.
func (h *heap) down(k int) {
	i := h.items[k]
	for {
		child := 2*k + 1
		if child >= len(h.items) {
			break
		}
		if right := child + 1; right < len(h.items) && h.before(h.items[right], h.items[child]) {
			child = right
		}
		if !h.before(h.items[child], i) {
			break
		}
		h.place(h.items[child], k)
		k = child
	}
	h.place(i, k)
}
