package writer

import (
	"time"

	"github.com/truss-dev/truss/graph/executor/observer"
)

// Memory is what the writer remembers of one object between calls. It can be
// dropped: the price is one read or write more, never a wrong one.
type Memory struct {
	// Conflicts are fields left to others in the settled state.
	Conflicts Conflicts

	// settled is the state in which nothing needs to be written.
	settled pair
	// wrote is the state that the last write started from, at which time, and
	// how often in a row it was that one.
	wrote   pair
	wroteAt time.Time
	repeats int
}

// pair is a desired state and the field set that we were seen to own.
type pair struct {
	hash   string
	fields observer.Digest
}

// Pauses before a write is repeated that started from the same state: then
// somebody undoes what we do.
const (
	repeatMin = 2 * time.Second
	repeatMax = 5 * time.Minute
)

// fruitless says that a write from this state was tried and undone, and that
// it is too early to try again. The same edit by a person a while later is
// set back as usual.
func (m *Memory) fruitless(now pair, at time.Time) bool {
	return m.wrote == now && at.Sub(m.wroteAt) < m.repeatPause()
}

func (m *Memory) repeatPause() time.Duration {
	d := repeatMin
	for range m.repeats {
		d = min(2*d, repeatMax)
	}
	return d
}

// wroteFrom notes a write that succeeded.
func (m *Memory) wroteFrom(state pair, at time.Time) {
	if m.wrote == state && at.Sub(m.wroteAt) < 2*repeatMax {
		m.repeats++
	} else {
		m.repeats = 0
	}
	m.wrote, m.wroteAt = state, at
}
