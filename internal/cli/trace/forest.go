package trace

import "slices"

// maxBelow is how many resources that only wait are shown below one that
// blocks them, where not all are shown.
const maxBelow = 5

// forest says what stands below what, and which nodes are shown.
type forest struct {
	nodes []Node
	// parent is the place of the node above, -1 for none; it is always
	// smaller than the node's own.
	parent []int
	depth  []int
	shown  []bool
	// children are the shown nodes below each shown node, and in the last
	// place those at the top.
	children [][]int
	// hidden counts, for each shown node and in the last place for the top, the
	// nodes below that are left out and not settled; settled the others.
	hidden  []tally
	settled tally
}

// tally counts nodes by state.
type tally map[State]int

func (t *tally) add(s State) {
	if *t == nil {
		*t = tally{}
	}
	(*t)[s]++
}

// newForest arranges the nodes of t. Above limit nodes, those that are settled
// are left out and of the others at most about limit shown, causes first; 0
// shows all. O(V+E).
func newForest(t *Trace, limit int) *forest {
	n := len(t.Nodes)
	f := &forest{
		nodes: t.Nodes, parent: make([]int, n), depth: make([]int, n), shown: make([]bool, n),
		children: make([][]int, n+1), hidden: make([]tally, n+1),
	}
	f.findParents(t.deletion())
	if limit <= 0 || n <= limit {
		for i := range f.shown {
			f.shown[i] = true
		}
	} else {
		f.choose(limit)
	}
	f.link()
	return f
}

// findParents hangs each node below one that blocks it or, when none does,
// below one of its needs: the one that is deepest, so that the tree is as deep
// as the graph; of equally deep ones one of the critical path.
func (f *forest) findParents(deleting bool) {
	place := make(map[string]int, len(f.nodes))
	for i := range f.nodes {
		n := &f.nodes[i]
		above := n.BlockedBy
		if len(above) == 0 && !deleting {
			above = make([]string, len(n.Needs))
			for k, need := range n.Needs {
				above[k] = need.Name
			}
		}
		f.parent[i] = f.deepest(place, above, n.Critical)
		if p := f.parent[i]; p >= 0 {
			f.depth[i] = f.depth[p] + 1
		}
		place[n.Name] = i
	}
}

// deepest returns the best of the nodes named that have a place; -1 for none.
func (f *forest) deepest(place map[string]int, names []string, critical bool) int {
	best := -1
	for _, name := range names {
		i, ok := place[name]
		if !ok {
			continue
		}
		better := best < 0 || f.depth[i] > f.depth[best] ||
			f.depth[i] == f.depth[best] && critical && f.nodes[i].Critical && !f.nodes[best].Critical
		if better {
			best = i
		}
	}
	return best
}

// choose picks what is shown: all causes that fit, then what waits for them,
// a few below each.
func (f *forest) choose(limit int) {
	below := make([]int, len(f.nodes))
	for rank := range lastRank {
		for i := range f.nodes {
			if limit == 0 {
				return
			}
			if f.nodes[i].State.rank() != rank || rank == lastRank-1 && !f.hasRoom(i, below) {
				continue
			}
			f.shown[i] = true
			limit--
			if p := f.parent[i]; p >= 0 {
				below[p]++
			}
		}
	}
}

// hasRoom reports whether a node that waits is to be shown: below a node that
// is shown, or below none that is not Ready.
func (f *forest) hasRoom(i int, below []int) bool {
	p := f.parent[i]
	if p < 0 || f.nodes[p].State.settled() {
		return true
	}
	return f.shown[p] && below[p] < maxBelow
}

// link fills children, hidden and settled.
func (f *forest) link() {
	top := len(f.nodes)
	nearest := make([]int, len(f.nodes))
	for i := range f.nodes {
		above := top
		if p := f.parent[i]; p >= 0 {
			above = nearest[p]
		}
		nearest[i] = above
		switch {
		case f.shown[i]:
			nearest[i] = i
			f.children[above] = append(f.children[above], i)
		case f.nodes[i].State.settled():
			f.settled.add(f.nodes[i].State)
		default:
			f.hidden[above].add(f.nodes[i].State)
		}
	}
}

// branch is one line of the tree: a node or, when node is negative, what is
// left out below the node before.
type branch struct {
	node   int
	depth  int
	last   bool
	before string
	hidden tally
}

// walk calls emit for each line of the tree from top to bottom. turn gives what
// stands before the lines below a line. It keeps its own stack: chains may be
// as long as the graph.
func (f *forest) walk(turn func(branch) string, emit func(branch)) {
	stack := f.below(nil, len(f.nodes), "", 0)
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		emit(b)
		if b.node >= 0 {
			stack = f.below(stack, b.node, turn(b), b.depth+1)
		}
	}
}

// below pushes the lines below a node, the first one last.
func (f *forest) below(stack []branch, i int, before string, depth int) []branch {
	last := true
	if len(f.hidden[i]) > 0 {
		stack = append(stack, branch{node: -1, depth: depth, last: true, before: before, hidden: f.hidden[i]})
		last = false
	}
	for _, child := range slices.Backward(f.children[i]) {
		stack = append(stack, branch{node: child, depth: depth, last: last, before: before})
		last = false
	}
	return stack
}
