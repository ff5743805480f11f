package graph

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Run is the state machine of one walk over a graph. It decides which node may
// act and does nothing else: it has no goroutines, no clock and no input or
// output. It is safe for concurrent use by a pool of workers, each of which
// calls Next, acts, and reports by Set.
//
// A node is actionable when it is dirty, not in flight, and all its needs are
// Ready or Excluded. Every node starts dirty. It becomes dirty again by Touch,
// when a need becomes Ready or Excluded, when a need that stays so changes, and
// when a need stops being so: then the node is Blocked, and so are the
// dependants it had released. Nothing is undone by that, but what was recorded
// for it counts again only once it has acted on its needs as they are now.
//
// A call costs O(1) for each dependant of each node that starts or stops
// releasing its dependants by it, plus O(log n) for each of the n actionable
// nodes that it queues or takes out. It never depends on the size of the graph.
type Run struct {
	topology   *topology
	superseded atomic.Bool

	mu       sync.Mutex
	cells    []cell
	queue    *heap
	counts   [len(stateWords)]int
	inFlight int
	// moved holds the nodes whose state changed since the last Drain.
	moved []int32
	// cascade is the worklist of block, kept to save allocations.
	cascade []int32
	// visits counts the nodes looked at, for the tests that bound the cost.
	visits int
}

// A cell is what a Run knows of one node.
type cell struct {
	// unready is how many needs are neither Ready nor Excluded.
	unready int32
	outcome Outcome
	// state is the effective state, and drained what it was at the last Drain.
	state, drained State
	// dirty nodes have a reason to act.
	dirty bool
	// inFlight nodes were given out by Next and wait for Set.
	inFlight bool
	// interrupted flights began before the node was last Blocked.
	interrupted bool
	// acted says that the outcome belongs to the needs as they are now.
	acted bool
	// listed nodes are in Run.moved.
	listed bool
}

// effective returns the state that follows from the cell's other fields.
func (c *cell) effective() State {
	switch {
	case c.unready > 0:
		return Blocked
	case !c.acted:
		return InProgress
	default:
		return c.outcome.State
	}
}

// NewRun returns a Run in which every node is dirty and nothing is known. It
// costs O(V+E), and 20 bytes per node and 4 per actionable one.
func NewRun[T any](g *Graph[T]) *Run {
	return newRun(g.topology)
}

// newRun is NewRun without the type parameter.
func newRun(t *topology) *Run {
	r := &Run{topology: t, cells: make([]cell, t.Len()), queue: newHeap(t.Len(), t.remaining)}
	for i := range r.cells {
		c := &r.cells[i]
		c.unready = int32(len(t.needs.of(int32(i))))
		c.dirty = true
		c.state = c.effective()
		c.drained = c.state
		r.counts[c.state]++
		r.enqueue(int32(i))
	}
	return r
}

// Next takes the actionable node with the most remaining weight, ties by the
// author's order, and marks it in flight until Set is called for it. ok is false
// when there is none now, and for ever after Supersede. O(log n) for n
// actionable nodes.
func (r *Run) Next() (i int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.superseded.Load() || r.queue.len() == 0 {
		return 0, false
	}
	next := r.queue.pop()
	c := &r.cells[next]
	c.dirty, c.inFlight, c.interrupted = false, true, false
	r.inFlight++
	return int(next), true
}

// Set records the outcome of node i and releases or blocks its dependants as it
// says. It ends the node's flight, after which a node that was touched
// meanwhile is actionable again; for a node not in flight it only records. What
// is recorded for a Blocked node, or by a flight during which the node was
// Blocked, does not count: the node acts again when its needs are met.
func (r *Run) Set(i int, o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.cells[i]
	c.acted = c.unready == 0 && !(c.inFlight && c.interrupted)
	c.outcome = o.normal()
	if c.inFlight {
		c.inFlight = false
		r.inFlight--
	}
	was := r.refresh(int32(i))
	r.enqueue(int32(i))
	r.tell(int32(i), was, o.Changed)
}

// normal returns o with a state that an actor may report.
func (o Outcome) normal() Outcome {
	if o.State == Blocked || int(o.State) >= len(stateWords) {
		o.State = InProgress
	}
	return o
}

// Touch says that the object of node i or an input of it changed: it acts again.
// A node in flight does so after Set, a Blocked one when its needs are met.
func (r *Run) Touch(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cells[i].dirty = true
	r.enqueue(int32(i))
}

// TouchAll touches every node, for a resync. O(V log V).
func (r *Run) TouchAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.cells {
		r.cells[i].dirty = true
		r.enqueue(int32(i))
	}
}

// Supersede ends the run: from now on Next gives out nothing. Nodes in flight
// are still awaited, and outcomes recorded.
func (r *Run) Supersede() {
	r.superseded.Store(true)
}

// Superseded reports whether Supersede was called. It takes no lock, so that it
// can be asked before every write.
func (r *Run) Superseded() bool {
	return r.superseded.Load()
}

// State returns the effective state of node i: Blocked while any need is neither
// Ready nor Excluded, whatever was recorded; InProgress until it has acted on
// its needs; else the state of its last outcome. A touched node keeps its state
// until it has acted.
func (r *Run) State(i int) State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cells[i].state
}

// States returns the effective state of every node, all of one moment. O(V).
func (r *Run) States() []State {
	r.mu.Lock()
	defer r.mu.Unlock()
	states := make([]State, len(r.cells))
	for i := range r.cells {
		states[i] = r.cells[i].state
	}
	return states
}

// Outcome returns what was last recorded for node i, whether or not it counts
// now. Before the first Set its State is Blocked, which Set never records.
func (r *Run) Outcome(i int) Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cells[i].outcome
}

// BlockedBy returns the needs of node i that are neither Ready nor Excluded,
// sorted. It is empty when node i is not Blocked.
func (r *Run) BlockedBy(i int) []ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []ID
	for _, need := range r.topology.Needs(i) {
		if !r.cells[need].state.releases() {
			ids = append(ids, r.topology.ids[need])
		}
	}
	slices.Sort(ids)
	return ids
}

// InFlight returns how many nodes Next gave out that Set was not called for.
func (r *Run) InFlight() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inFlight
}

// Pending reports whether a node is in flight or can be had from Next. Once it
// is false only Touch, TouchAll or Set can make it true.
func (r *Run) Pending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inFlight > 0 || (!r.superseded.Load() && r.queue.len() > 0)
}

// Counts returns how many nodes are in each state. O(1).
func (r *Run) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Counts{
		Total:      len(r.cells),
		Blocked:    r.counts[Blocked],
		InProgress: r.counts[InProgress],
		Ready:      r.counts[Ready],
		Error:      r.counts[Error],
		Excluded:   r.counts[Excluded],
	}
}

// Drain returns the net change of each node whose effective state differs from
// what it was at the last Drain (or NewRun), in the order in which they first
// changed. O(changes), so that events and metrics cost no more.
func (r *Run) Drain() []Transition {
	r.mu.Lock()
	defer r.mu.Unlock()
	var net []Transition
	for _, i := range r.moved {
		c := &r.cells[i]
		c.listed = false
		if c.state != c.drained {
			net = append(net, Transition{Index: int(i), From: c.drained, To: c.state})
			c.drained = c.state
		}
	}
	r.moved = r.moved[:0]
	return net
}
