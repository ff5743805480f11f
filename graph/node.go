package graph

import "fmt"

// An ID names a node. It is unique in one graph and otherwise free text.
type ID string

// A Reason says why a node needs another one. The order of the constants is
// the order of strength: where a node names a need twice, the first wins. Any
// other value counts as Inferred.
type Reason uint8

// The reasons of an edge.
const (
	// Declared needs were written down by the author.
	Declared Reason = iota
	// Referenced needs follow from values the node reads.
	Referenced
	// Inferred needs are guessed from what nodes are. They give way: they never
	// make a cycle and never ask for a node that is absent.
	Inferred
)

// reasonWords holds the text form of each Reason.
var reasonWords = [...]string{Declared: "declared", Referenced: "referenced", Inferred: "inferred"}

// String returns "declared", "referenced" or "inferred".
func (r Reason) String() string {
	if int(r) < len(reasonWords) {
		return reasonWords[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// MarshalText returns the word that String returns; it fails for a value that
// is not one of the constants.
func (r Reason) MarshalText() ([]byte, error) {
	if int(r) >= len(reasonWords) {
		return nil, fmt.Errorf("cannot marshal edge reason %d: not a known reason", uint8(r))
	}
	return []byte(r.String()), nil
}

// UnmarshalText accepts the words that MarshalText gives.
func (r *Reason) UnmarshalText(text []byte) error {
	for i, word := range reasonWords {
		if word == string(text) {
			*r = Reason(i)
			return nil
		}
	}
	return fmt.Errorf("cannot unmarshal edge reason %q: want declared, referenced or inferred", text)
}

// A Need is one edge as its dependant states it: the node named ID must be
// Ready or Excluded before the dependant may act.
type Need struct {
	ID     ID
	Reason Reason
}

// A Node is one vertex as the author gives it to New.
type Node[T any] struct {
	// ID names the node.
	ID ID
	// Needs are the nodes that must come first. Repeated needs count once, with
	// their strongest reason.
	Needs []Need
	// Weight is the node's share of the critical path, in any unit the author
	// likes. Values below 1 count as 1.
	Weight int64
	// Payload is what the node holds. The graph never looks at it.
	Payload T
}

// A DuplicateError reports an ID that more than one node has.
type DuplicateError struct {
	ID ID
}

// Error names the ID.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("cannot use node ID %q: more than one node has it", e.ID)
}

// A MissingError reports a declared or referenced need that is not in the
// graph.
type MissingError struct {
	// ID is the node that has the need.
	ID ID
	// Need is the node that is absent.
	Need ID
}

// Error names the node and what it needs.
func (e *MissingError) Error() string {
	return fmt.Sprintf("cannot resolve need %q of node %q: no such node", e.Need, e.ID)
}

// A DroppedEdge is an inferred need that the graph left out: with all needs its
// ends would need each other, and it points backwards in the order of declared
// and referenced needs.
type DroppedEdge struct {
	// ID is the node that has the need.
	ID ID
	// Need is the node that it would have waited for.
	Need ID
}
