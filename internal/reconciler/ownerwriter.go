package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/truss-dev/truss/graph/resource"
)

// Field managers of what Truss writes on owners.
const (
	guardManager  = "truss-owner"
	statusManager = "truss-status"
)

// OwnerWriter writes the two things that Truss has on an owner: finalizer with
// slot label, and status. Each write is an apply of that part only.
type OwnerWriter struct {
	client dynamic.Interface
}

// NewOwnerWriter returns an OwnerWriter that acts as the manager itself.
func NewOwnerWriter(client dynamic.Interface) *OwnerWriter { return &OwnerWriter{client: client} }

// Guard puts finalizer and slot label on an owner.
func (w *OwnerWriter) Guard(ctx context.Context, o *resource.Owner) error {
	u := identity(o)
	u.SetFinalizers([]string{o.Finalizer})
	u.SetLabels(map[string]string{resource.SlotLabel: strconv.Itoa(o.Slot())})
	if _, err := w.of(o).Apply(ctx, o.Name, u, metav1.ApplyOptions{FieldManager: guardManager, Force: true}); err != nil {
		return fmt.Errorf("cannot put the finalizer on %s %q: %w", o.Kind.Kind, o.Key(), err)
	}
	return nil
}

// Status applies an owner's status, which encodes to a JSON object.
func (w *OwnerWriter) Status(ctx context.Context, o *resource.Owner, status any) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return fmt.Errorf("cannot encode the status of %s %q: %w", o.Kind.Kind, o.Key(), err)
	}
	u := identity(o)
	u.Object["status"] = content
	_, err = w.of(o).Apply(ctx, o.Name, u, metav1.ApplyOptions{FieldManager: statusManager, Force: true}, "status")
	if err != nil {
		return fmt.Errorf("cannot write the status of %s %q: %w", o.Kind.Kind, o.Key(), err)
	}
	return nil
}

// Release takes the finalizer off an owner, whoever put it there; finalizers
// and version are those of the owner as last seen.
func (w *OwnerWriter) Release(ctx context.Context, o *resource.Owner, finalizers []string, version string) error {
	i := slices.Index(finalizers, o.Finalizer)
	if i < 0 {
		return nil
	}
	at := "/metadata/finalizers/" + strconv.Itoa(i)
	patch, _ := json.Marshal([]map[string]any{ // strings always encode
		{"op": "test", "path": "/metadata/uid", "value": o.UID},
		{"op": "test", "path": at, "value": o.Finalizer},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": version},
		{"op": "remove", "path": at},
	})
	if _, err := w.of(o).Patch(ctx, o.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: guardManager}); err != nil {
		return fmt.Errorf("cannot release %s %q: %w", o.Kind.Kind, o.Key(), err)
	}
	return nil
}

func (w *OwnerWriter) of(o *resource.Owner) dynamic.ResourceInterface {
	return w.client.Resource(o.Kind.GroupVersion().WithResource(o.Resource)).Namespace(o.Namespace)
}

// identity names an owner, by UID too: an owner that was created anew is
// another one.
func identity(o *resource.Owner) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(o.Kind)
	u.SetNamespace(o.Namespace)
	u.SetName(o.Name)
	u.SetUID(o.UID)
	return u
}
