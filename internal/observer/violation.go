package observer

import (
	"cmp"
	"fmt"
	"slices"
)

// Invariant names a promise.
type Invariant string

// The invariants that are checked on every request.
const (
	// Gate: an object is created only after each of its needs was Ready.
	Gate Invariant = "S1 gate"
	// ForeignTouch: only what Truss made or adopted is changed or deleted,
	// and only for the owner it was made for.
	ForeignTouch Invariant = "S2 no foreign touch"
	// Precondition: deletions and patches name the UID they mean, objects are
	// made by POST, nothing is replaced and no collection deleted.
	Precondition Invariant = "S3 preconditions"
	// ReverseOrder: an object is deleted after all that need it are gone.
	ReverseOrder Invariant = "S4 reverse order"
	// Confinement: a namespaced owner's objects are in its namespace.
	Confinement Invariant = "S6 confinement"
	// Inventory: an object is recorded before it is created.
	Inventory Invariant = "S15 inventory before create"
	// DoubleCreate: an object is created again only after a deletion.
	DoubleCreate Invariant = "S16 no double create"
)

// Violation is one broken promise.
type Violation struct {
	Invariant Invariant
	// Message says what was wrong, in one line without values of objects.
	Message string
	// Namespace is the owner's, or the request's where no owner is known;
	// empty where that has none either.
	Namespace string
	// Event is the request that broke it.
	Event Request
}

// String tells the violation in one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s: %s [%s]", v.Invariant, v.Message, v.Event)
}

// Violations judges what was settled since Start, in the order of the log. It
// costs O(requests + versions) each time.
func (o *Observer) Violations() []Violation {
	o.history.mu.Lock()
	defer o.history.mu.Unlock()
	j := newJudge(o.history, &o.options, o.settled)
	for _, r := range o.history.requests {
		if r.own && r.Seq > o.begin && r.Seq <= o.settled {
			j.request(r)
		}
	}
	slices.SortStableFunc(j.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Event.Seq, b.Event.Seq), cmp.Compare(a.Invariant, b.Invariant))
	})
	return j.found
}
