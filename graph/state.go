package graph

import "fmt"

// A State is where a node stands in a Run, in the words of Smith's Bundle
// conditions.
type State uint8

// The states of a node.
const (
	// Blocked nodes have a need that is neither Ready nor Excluded.
	Blocked State = iota
	// InProgress nodes may act, are acting, or wait for what they acted on.
	InProgress
	// Ready nodes release their dependants.
	Ready
	// Error nodes failed. Only their dependants are held back.
	Error
	// Excluded nodes turned out not to exist. They release their dependants,
	// which see them as absent.
	Excluded
)

// stateWords holds the text form of each State.
var stateWords = [...]string{
	Blocked: "Blocked", InProgress: "InProgress", Ready: "Ready", Error: "Error", Excluded: "Excluded",
}

// String returns the name of the constant.
func (s State) String() string {
	if int(s) < len(stateWords) {
		return stateWords[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// MarshalText returns the word that String returns; it fails for a value that
// is not one of the constants.
func (s State) MarshalText() ([]byte, error) {
	if int(s) >= len(stateWords) {
		return nil, fmt.Errorf("cannot marshal node state %d: not a known state", uint8(s))
	}
	return []byte(s.String()), nil
}

// UnmarshalText accepts the words that MarshalText gives.
func (s *State) UnmarshalText(text []byte) error {
	for i, word := range stateWords {
		if word == string(text) {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("cannot unmarshal node state %q: want Blocked, InProgress, Ready, Error or Excluded", text)
}

// releases reports whether dependants of a node in this state may act.
func (s State) releases() bool {
	return s == Ready || s == Excluded
}

// An Outcome is what came of acting on a node, or of looking at it.
type Outcome struct {
	// State is InProgress, Ready, Error or Excluded. Anything else is taken as
	// InProgress: whether a node is Blocked is not for its actor to say.
	State State
	// Changed says that what dependants read from this node differs from before:
	// they act again even if it was Ready already.
	Changed bool
	// Terminal says of an Error that nothing but a change to the node or its
	// inputs can cure it. A Run retries no error by itself; this is kept for
	// those who do.
	Terminal bool
}

// Counts says how many nodes of a Run are in each state.
type Counts struct {
	Total, Blocked, InProgress, Ready, Error, Excluded int
}

// Done reports whether every node is Ready or Excluded.
func (c Counts) Done() bool {
	return c.Ready+c.Excluded == c.Total
}

// A Transition is the net change of one node's state between two calls of
// Run.Drain.
type Transition struct {
	Index    int
	From, To State
}
