package graph

// The methods of this file expect r.mu to be held.

// refresh brings the effective state of node i up to date with its other fields
// and returns what it was.
func (r *Run) refresh(i int32) (was State) {
	c := &r.cells[i]
	was, c.state = c.state, c.effective()
	if was == c.state {
		return was
	}
	r.counts[was]--
	r.counts[c.state]++
	if !c.listed {
		c.listed = true
		r.moved = append(r.moved, i)
	}
	return was
}

// enqueue queues node i when it is actionable.
func (r *Run) enqueue(i int32) {
	r.visits++
	if c := &r.cells[i]; c.dirty && !c.inFlight && c.unready == 0 {
		r.queue.push(i)
	}
}

// tell passes the step of node i from state was to its present one on to its
// dependants.
func (r *Run) tell(i int32, was State, changed bool) {
	now := r.cells[i].state
	switch {
	case was.releases() && !now.releases():
		r.block(i)
	case !was.releases() && now.releases():
		r.release(i)
	case now.releases() && (changed || was != now):
		r.dirty(i)
	}
}

// release gives the dependants of node i one unready need less. It goes no
// further: all of them were Blocked, so that one with no unready need left has to
// act before it can release others.
func (r *Run) release(i int32) {
	for _, d := range r.topology.dependants.of(i) {
		c := &r.cells[d]
		c.unready--
		c.dirty = true
		r.refresh(d)
		r.enqueue(d)
	}
}

// dirty makes the dependants of node i act again.
func (r *Run) dirty(i int32) {
	for _, d := range r.topology.dependants.of(i) {
		r.cells[d].dirty = true
		r.enqueue(d)
	}
}

// block gives the dependants of node i one unready need more, and does the same
// for each of them that thereby stops releasing its own.
func (r *Run) block(i int32) {
	r.cascade = append(r.cascade[:0], i)
	for len(r.cascade) > 0 {
		last := len(r.cascade) - 1
		i, r.cascade = r.cascade[last], r.cascade[:last]
		for _, d := range r.topology.dependants.of(i) {
			if r.addUnready(d) {
				r.cascade = append(r.cascade, d)
			}
		}
	}
}

// addUnready gives node i one unready need more and reports whether it released
// its dependants until then.
func (r *Run) addUnready(i int32) bool {
	r.visits++
	c := &r.cells[i]
	c.unready++
	c.acted, c.interrupted = false, true
	r.queue.remove(i)
	return r.refresh(i).releases()
}
