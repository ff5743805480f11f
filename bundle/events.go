package bundle

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
)

// Types of events, as in the core API.
const (
	// EventNormal is the type of events that report progress.
	EventNormal = "Normal"
	// EventWarning is the type of events that report errors.
	EventWarning = "Warning"
)

// Reasons of events; the names are Smith's. A blocked resource has no event.
const (
	EventResourceInProgress = "ResourceInProgress"
	EventResourceReady      = "ResourceReady"
	EventResourceError      = "ResourceError"
	EventBundleInProgress   = "BundleInProgress"
	EventBundleReady        = "BundleReady"
	EventBundleError        = "BundleError"
)

// Event is one event on a Bundle. Message is text of users and servers: pass
// it to a recorder as an argument, never as a format.
type Event struct {
	// Type is EventNormal or EventWarning.
	Type string
	// Reason is one of the reasons above.
	Reason string
	// Resource is the resource it is about, "" for the Bundle as a whole.
	Resource string
	// Message has at most 1 KiB.
	Message string
}

// Change is a resource and the state it came from.
type Change struct {
	NodeReport
	// From is the state at the previous call.
	From graph.State
}

// ResourceEvents gives the events for changes of state, in their order. Of a
// Bundle of more than 200 resources (total) only errors are worth one: else
// events would cost as many requests as the objects. O(changes).
func ResourceEvents(total int, changes []Change) []Event {
	var out []Event
	for i := range changes {
		c := &changes[i]
		if c.From == c.State || total > maxRows && c.State != graph.Error {
			continue
		}
		kind, reason := EventNormal, ""
		switch c.State {
		case graph.InProgress:
			reason = EventResourceInProgress
		case graph.Ready:
			reason = EventResourceReady
		case graph.Error:
			kind, reason = EventWarning, EventResourceError
		case graph.Blocked, graph.Excluded:
			continue
		}
		n := row{NodeReport: &c.NodeReport}
		out = append(out, Event{Type: kind, Reason: reason, Resource: c.Name, Message: cut(n.cause())})
	}
	return out
}

// ConditionEvents gives the events for conditions of the Bundle that turned
// True between two statuses; prev may be nil.
func ConditionEvents(prev, next *v1.BundleStatus) []Event {
	if prev == nil {
		prev = &v1.BundleStatus{}
	}
	var out []Event
	for _, c := range next.Conditions {
		if c.Status != metav1.ConditionTrue || meta.IsStatusConditionTrue(prev.Conditions, c.Type) {
			continue
		}
		switch c.Type {
		case v1.ConditionInProgress:
			out = append(out, Event{Type: EventNormal, Reason: EventBundleInProgress, Message: cut(next.Message)})
		case v1.ConditionReady:
			out = append(out, Event{Type: EventNormal, Reason: EventBundleReady, Message: "all resources are ready: " + next.Progress})
		case v1.ConditionError:
			out = append(out, Event{Type: EventWarning, Reason: EventBundleError, Message: cut(c.Message)})
		}
	}
	return out
}
