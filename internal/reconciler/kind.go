package reconciler

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/truss-dev/truss/graph/executor"
	"github.com/truss-dev/truss/graph/resource"
)

// Kind says how owners of one kind compile and how their state is shown. Its
// methods are pure: they write nothing and do not change the object, which
// comes from a cache.
type Kind[O client.Object] interface {
	// New returns an empty object to read into.
	New() O
	// Owner describes the object.
	Owner(obj O) *resource.Owner
	// Compile makes its graph.
	Compile(obj O) (*resource.Graph, error)
	// Status shows the state of the object.
	Status(obj O, p Previous, r *executor.Report) Status
	// Deleting shows the state of an object that is being taken down.
	Deleting(obj O, p Previous, r *executor.TeardownReport) Status
}

// Previous are earlier values of Status.Object, nil before the first: the one
// that was written last, against which a write is judged, and the one that was
// shown last, against which events are.
type Previous struct {
	Written, Shown any
}

// Status is what is to be written of an owner's state.
type Status struct {
	// Object is the status to apply.
	Object any
	// Changed says that it differs from what was written.
	Changed bool
	// Urgent says that it must be written at once: a transition to Ready or
	// Error. Leaving Ready can wait: often it is regained at once.
	Urgent bool
	// Events are those of the transitions since the status shown last.
	Events []Event
}

// Event is one event about an owner. Message is plain text, never a format.
type Event struct {
	Warning bool
	Reason  string
	Message string
}
