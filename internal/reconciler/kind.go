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
	// Status shows the state of the object, from its previous status as it
	// was written last.
	Status(obj O, previous any, r *executor.Report) Status
	// Deleting shows the state of an object that is being taken down.
	Deleting(obj O, previous any, r *executor.TeardownReport) Status
}

// Status is what is to be written of an owner's state.
type Status struct {
	// Object is the status to apply; it is the previous argument of the next
	// call.
	Object any
	// Changed says that it differs from the previous one.
	Changed bool
	// Urgent says that it must be written at once: a transition to Ready or
	// Error.
	Urgent bool
	// Events are those of the transitions since the last call.
	Events []Event
}

// Event is one event about an owner. Message is plain text, never a format.
type Event struct {
	Warning bool
	Reason  string
	Message string
}
