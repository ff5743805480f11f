package resource

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/readiness"
)

// Graph is what every compiler makes and the executor walks.
type Graph = graph.Graph[Node]

// Node is the payload of one graph node: one Kubernetes object.
type Node struct {
	// Identity of the object, static for the life of the graph.
	Identity Identity
	// Version is the API version the object is written in.
	Version string
	// Template is the object as far as it is known before anything is
	// rendered: placeholders still stand in it. It feeds inferred edges and
	// is never written. Nil when nothing is known.
	Template *unstructured.Unstructured
	// Render gives the desired object. It is a pure function of its inputs.
	Render Render
	// Static says that Render reads nothing: it is called once per graph.
	Static bool
	// Example renders the object with example values before any need exists,
	// for an early dry-run. Nil when there is nothing to check early.
	Example Render
	// RequireSupport refuses kinds whose CRD does not carry the annotation
	// SupportEnabled: "true" (Bundles; Smith's managing-resources).
	RequireSupport bool
}

// Render gives the desired object of a node from the live state of its needs.
// The executor never changes the object it returns, so a static node may
// return the same one each time.
//
// It returns a *WaitError while a value it reads is not there yet, an
// *InvalidError when no change of its inputs can help in this generation.
// Any other error is terminal, too.
type Render func(ctx context.Context, in Inputs) (Rendered, error)

// Rendered is the outcome of a Render.
type Rendered struct {
	// Object is the desired object. The executor adds ownership.
	Object *unstructured.Unstructured
	// Excluded says that the render came out empty: the object is deleted if
	// it exists and dependants see it as absent.
	Excluded bool
	// SecretData says that data of a Secret went into Object. Such an object
	// must be a Secret or be marked truss.dev/allow-secret-data.
	SecretData bool
}

// Inputs is what a Render may read: only direct needs, by node ID. The
// executor remembers what was read and renders again when it changes.
type Inputs interface {
	// Object returns the live object of a need; nil if the need is excluded
	// or is not an object that was observed. Do not modify it.
	Object(need graph.ID) *unstructured.Unstructured
	// Output returns the identity of the need's output object; false when
	// its kind has none.
	Output(need graph.ID) (readiness.Output, bool)
	// OutputObject returns the need's output object itself, a Secret or a
	// ConfigMap, read as the identity that writes the dependant. Do not
	// modify it; do not log it.
	OutputObject(ctx context.Context, need graph.ID) (*unstructured.Unstructured, error)
}
