package bundle

import (
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// Reasons of the conditions of Bundles and their resources, besides those of
// the executor. A condition that is False has the name of the state as its
// reason: Blocked, InProgress, Ready, Error or Excluded.
const (
	// ReasonDependenciesNotReady is why a resource is Blocked.
	ReasonDependenciesNotReady = "DependenciesNotReady"
	// ReasonTerminalError is an error that this generation cannot get over.
	ReasonTerminalError = "TerminalError"
	// ReasonRetriableError is an error after which Truss tries again.
	ReasonRetriableError = "RetriableError"
	// ReasonUnknown is a state that cannot be known, since the Bundle as a
	// whole is wrong.
	ReasonUnknown = "Unknown"
)

// Report is what a run knows about a Bundle: all that Status needs.
type Report struct {
	// Observed is the generation of the spec that the run is about.
	Observed int64
	// Nodes are the resources in the order of the spec.
	Nodes []NodeReport
	// Failed is the error of Compile; then only the names of Nodes are used.
	Failed error
	// ToDelete are the objects that are no longer in the spec, in any order.
	ToDelete []v1.ObjectToDelete
	// Conditions are added to the Bundle's own three, such as
	// ImpersonationForbidden. Their transition times are set by Status.
	Conditions []metav1.Condition
	// SpecSize is SpecSize of the Bundle: what the spec leaves of an etcd
	// request is what the status may take.
	SpecSize int
}

// NodeReport is the state of one resource.
type NodeReport struct {
	// Name is the name of the resource.
	Name string
	// State is its effective state.
	State graph.State
	// Terminal says that an Error is not retried in this generation.
	Terminal bool
	// Reason is the CamelCase reason of the state, such as Collision.
	Reason string
	// Message says more; it must not hold secret values.
	Message string
	// BlockedBy are the needs that a Blocked resource waits for, in any order.
	BlockedBy []graph.ID
}

// Refused is the report on a Bundle that did not compile.
func Refused(b *v1.Bundle, err error) Report {
	r := Report{
		Observed: b.Generation,
		Nodes:    make([]NodeReport, len(b.Spec.Resources)),
		Failed:   err,
		SpecSize: SpecSize(b),
	}
	for i := range b.Spec.Resources {
		r.Nodes[i].Name = b.Spec.Resources[i].Name
	}
	return r
}

// mistakes gives the compile errors by resource. ok is false when one of them
// means that no resource has a state.
func mistakes(err error) (byNode map[string]*resource.InvalidError, ok bool) {
	byNode = map[string]*resource.InvalidError{}
	for _, e := range split(err) {
		var invalid *resource.InvalidError
		if !errors.As(e, &invalid) || invalid.Node == "" || structural(invalid.Reason) {
			return nil, false
		}
		if _, known := byNode[invalid.Node]; !known {
			byNode[invalid.Node] = invalid
		}
	}
	return byNode, true
}

// split gives the parts of a joined error, also of one that was wrapped
// since; never none.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, split(e)...)
		}
		return out
	}
	if inner := errors.Unwrap(err); inner != nil {
		if parts := split(inner); len(parts) > 1 {
			return parts
		}
	}
	return []error{err}
}

// mistakesText is a joined error, one mistake per line.
func mistakesText(err error) string {
	var lines []string
	for _, e := range split(err) {
		lines = append(lines, mistakeText(e))
	}
	return strings.Join(lines, "\n")
}

// mistakeText leads with the reason, which says what kind of mistake it is.
func mistakeText(err error) string {
	if invalid, ok := errors.AsType[*resource.InvalidError](err); ok && invalid.Reason != "" {
		return invalid.Reason + ": " + err.Error()
	}
	return err.Error()
}
