package graph

import (
	"fmt"
	"slices"
	"strings"
)

// maxPathWords bounds how many nodes of a cycle its message names.
const maxPathWords = 20

// A CycleError reports nodes that need each other. Where there are several such
// sets, New reports each; the one whose first node the author listed first comes
// first.
type CycleError struct {
	// Path is a shortest cycle through the first of those nodes, by author
	// order. Each node needs the next one; the last is the first again.
	Path []ID
}

// Error shows the path: "a -> b -> a". The middle of a very long one is left
// out.
func (e *CycleError) Error() string {
	return "cannot order nodes, they need each other: " + strings.Join(e.words(), " -> ")
}

// words returns the parts of the message's path.
func (e *CycleError) words() []string {
	words := make([]string, len(e.Path))
	for i, id := range e.Path {
		words[i] = string(id)
	}
	if len(words) <= maxPathWords {
		return words
	}
	half := maxPathWords / 2
	gap := fmt.Sprintf("(%d more)", len(words)-2*half)
	return slices.Concat(words[:half], []string{gap}, words[len(words)-half:])
}

// findCycles returns a *CycleError per cyclic component of the nodes that are
// not in order, which holds all nodes that neither are on a cycle nor need one.
// O(V+E), and the time to sort the cycles.
func findCycles(ids []ID, needs adjacency, order []int32) []error {
	if len(order) == len(ids) {
		return nil
	}
	c := findComponents(needs, order)
	slices.Sort(c.cyclic)
	parent := make([]int32, len(ids))
	var problems []error
	for _, first := range c.cyclic {
		path := c.shortestCycle(first, parent)
		words := make([]ID, len(path))
		for k, i := range path {
			words[k] = ids[i]
		}
		problems = append(problems, &CycleError{Path: words})
	}
	return problems
}

// shortestCycle searches from first, breadth first and needs in the author's
// order, for the nearest way back to it inside its component. parent must be
// zero for the nodes of that component.
func (c *components) shortestCycle(first int32, parent []int32) []int32 {
	queue := []int32{first}
	for k := 0; k < len(queue); k++ {
		i := queue[k]
		for _, need := range c.needs.of(i) {
			if need == first {
				return unwind(first, i, parent)
			}
			if c.of[need] == c.of[first] && parent[need] == 0 {
				parent[need] = i + 1
				queue = append(queue, need)
			}
		}
	}
	return nil
}

// unwind returns first, ..., last, first by following parent, which holds one
// more than each node's predecessor.
func unwind(first, last int32, parent []int32) []int32 {
	path := []int32{first}
	for i := last; i != first; i = parent[i] - 1 {
		path = append(path, i)
	}
	path = append(path, first)
	slices.Reverse(path)
	return path
}

// components holds the strongly connected components of a part of a graph.
type components struct {
	needs adjacency
	// of is the component of each visited node.
	of []int32
	// cyclic is the first node, by author order, of each component that has a
	// cycle, in no useful order.
	cyclic []int32

	count   int32
	clock   int32
	entered []int32 // when the node was entered; 0 is never
	low     []int32 // the earliest node of its component that it reaches
	stack   []int32 // entered nodes without a component
	frames  []frame
}

// A frame is one level of the depth first search, kept here and not on the
// goroutine's stack.
type frame struct {
	node int32
	next int32 // the next edge to follow
}

// findComponents is Tarjan's algorithm without recursion, on the nodes that are
// not in done. O(V+E).
func findComponents(needs adjacency, done []int32) *components {
	n := needs.len()
	c := &components{needs: needs, of: make([]int32, n), entered: make([]int32, n), low: make([]int32, n)}
	for _, i := range done {
		c.entered[i], c.of[i] = -1, -1
	}
	for i := range int32(n) {
		if c.entered[i] == 0 {
			c.search(i)
		}
	}
	return c
}

// search visits all that root needs.
func (c *components) search(root int32) {
	c.enter(root)
	for len(c.frames) > 0 {
		top := &c.frames[len(c.frames)-1]
		if top.next == c.needs.start[top.node+1] {
			c.leave(top.node)
			continue
		}
		need := c.needs.to[top.next]
		top.next++
		switch {
		case c.entered[need] == 0:
			c.enter(need)
		case c.of[need] == 0:
			c.low[top.node] = min(c.low[top.node], c.entered[need])
		}
	}
}

// enter opens a frame for node i.
func (c *components) enter(i int32) {
	c.clock++
	c.entered[i], c.low[i] = c.clock, c.clock
	c.stack = append(c.stack, i)
	c.frames = append(c.frames, frame{node: i, next: c.needs.start[i]})
}

// leave closes the frame of node i and, when i is the entry of its component,
// takes that off the stack.
func (c *components) leave(i int32) {
	c.frames = c.frames[:len(c.frames)-1]
	if len(c.frames) > 0 {
		caller := c.frames[len(c.frames)-1].node
		c.low[caller] = min(c.low[caller], c.low[i])
	}
	if c.low[i] != c.entered[i] {
		return
	}
	begin := len(c.stack) - 1
	for c.stack[begin] != i {
		begin--
	}
	members := c.stack[begin:]
	c.stack = c.stack[:begin]
	c.count++
	for _, m := range members {
		c.of[m] = c.count
	}
	if len(members) > 1 || c.needs.has(i, i) {
		c.cyclic = append(c.cyclic, slices.Min(members))
	}
}
