package inventory

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/truss-dev/truss/graph/resource"
)

// GVR is where records live.
var GVR = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}

// GenerationAnnotation holds the owner's newest generation that uses the
// record's plan: the record with the highest one is the newest.
const GenerationAnnotation = "truss.dev/generation"

// fieldManager of records; they are written once, with few patches.
const fieldManager = "truss"

// Ref names one record.
type Ref struct {
	Namespace, Name string
	UID             types.UID
	Generation      int64
	Created         time.Time
	Terminating     bool
	// Active records may list live objects. The others are history.
	Active bool
	// Owned records refer to their owner. The garbage collector takes the
	// reference off when the owner is deleted with --cascade=orphan.
	Owned bool
	// Others are the finalizers that are not ours.
	Others []string
}

// RefOf reads a Ref from a record or its metadata.
func RefOf(u *unstructured.Unstructured) Ref {
	generation, _ := strconv.ParseInt(u.GetAnnotations()[GenerationAnnotation], 10, 64) // 0 sorts last
	return Ref{
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(),
		Generation: generation, Created: u.GetCreationTimestamp().Time,
		Terminating: u.GetDeletionTimestamp() != nil,
		Owned:       metav1.GetControllerOfNoCopy(u) != nil,
		Active:      slices.Contains(u.GetFinalizers(), resource.InventoryFinalizer),
		Others:      slices.DeleteFunc(u.GetFinalizers(), func(f string) bool { return f == resource.InventoryFinalizer }),
	}
}

// Compare orders records by age, oldest first.
func (r Ref) Compare(s Ref) int {
	return cmp.Or(cmp.Compare(r.Generation, s.Generation), r.Created.Compare(s.Created), cmp.Compare(r.Name, s.Name))
}

// Records reads and writes plans in the cluster, as the manager itself.
type Records struct {
	client    dynamic.Interface
	namespace string
}

// NewRecords returns a Records; namespace holds the records of cluster-scoped owners.
func NewRecords(client dynamic.Interface, namespace string) *Records {
	return &Records{client: client, namespace: namespace}
}

// Namespace returns where the owner's records live.
func (r *Records) Namespace(o *resource.Owner) string {
	if o.Namespace != "" {
		return o.Namespace
	}
	return r.namespace
}

// Name returns the name of the record of a plan.
func Name(o *resource.Owner, planHash string) string {
	return prefix(o) + planHash
}

// Names says whether a record of the owner may have this name. Labels are
// anybody's to set, and a record of another name is none of ours.
func Names(o *resource.Owner, record string) bool { return strings.HasPrefix(record, prefix(o)) }

func prefix(o *resource.Owner) string {
	return strings.ToLower(o.Kind.Kind) + "-" + string(o.UID) + "-"
}

// Write stores a plan: one request when it is new. A record of the same name
// is used when it holds the same plan; otherwise somebody else wrote it, and
// Write fails.
func (r *Records) Write(ctx context.Context, o *resource.Owner, e Encoded) (*unstructured.Unstructured, error) {
	record := r.object(o, e)
	created, err := r.in(r.Namespace(o)).Create(ctx, record, metav1.CreateOptions{FieldManager: fieldManager})
	if err == nil {
		return created, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("cannot record inventory %q: %w", record.GetName(), err)
	}
	return r.reuse(ctx, o, e)
}

func (r *Records) object(o *resource.Owner, e Encoded) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "ControllerRevision",
		"revision":   o.Generation,
		"data": map[string]any{
			"format": int64(Format),
			"gz":     base64.StdEncoding.EncodeToString(e.Compressed),
		},
	}}
	u.SetName(Name(o, e.Hash))
	u.SetNamespace(r.Namespace(o))
	u.SetLabels(o.Labels())
	u.SetAnnotations(map[string]string{GenerationAnnotation: strconv.FormatInt(o.Generation, 10)})
	u.SetFinalizers([]string{resource.InventoryFinalizer})
	if o.Namespace != "" {
		u.SetOwnerReferences([]metav1.OwnerReference{o.Reference(true)})
	}
	return u
}

// reuse takes the record that is there when it holds the same plan, and
// makes it the newest.
func (r *Records) reuse(ctx context.Context, o *resource.Owner, e Encoded) (*unstructured.Unstructured, error) {
	name := Name(o, e.Hash)
	live, err := r.in(r.Namespace(o)).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read inventory %q: %w", name, err)
	}
	if !holds(live, e) {
		return nil, fmt.Errorf("cannot record inventory %q: a ControllerRevision of that name exists that Truss did not write; delete it", name)
	}
	if ref := RefOf(live); ref.Generation < o.Generation || !ref.Active {
		return r.renew(ctx, o, ref)
	}
	return live, nil
}

// holds says whether a record holds a plan. The plans are compared, not the
// compressed bytes: those may differ between versions of the compressor.
func holds(live *unstructured.Unstructured, e Encoded) bool {
	plan, err := planOf(live)
	if err != nil {
		return false
	}
	again, err := plan.Encode()
	return err == nil && again.Hash == e.Hash
}

// renew makes a record the newest one of its owner, and active again.
func (r *Records) renew(ctx context.Context, o *resource.Owner, ref Ref) (*unstructured.Unstructured, error) {
	patch, _ := json.Marshal(map[string]any{ // maps of strings and numbers always encode
		"metadata": map[string]any{
			"uid":         ref.UID,
			"finalizers":  append(slices.Clone(ref.Others), resource.InventoryFinalizer),
			"annotations": map[string]any{GenerationAnnotation: strconv.FormatInt(o.Generation, 10)},
		},
		"revision": o.Generation,
	})
	u, err := r.in(ref.Namespace).Patch(ctx, ref.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return nil, fmt.Errorf("cannot renew inventory %q: %w", ref.Name, err)
	}
	return u, nil
}

// ReasonUnreadable is the reason of a record that holds no plan.
const ReasonUnreadable = "InventoryUnreadable"

// Read returns the plan of a record. One that is damaged, forged or of a later
// format is a *resource.InvalidError: somebody has to look at it.
func (r *Records) Read(ctx context.Context, ref Ref) (*Plan, error) {
	u, err := r.in(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read inventory %q: %w", ref.Name, err)
	}
	plan, err := planOf(u)
	if err != nil {
		return nil, &resource.InvalidError{Reason: ReasonUnreadable, Message: fmt.Sprintf(
			"ControllerRevision %s/%s: %v; if it is damaged or Truss did not write it, remove its finalizer %s: what only it lists is then left to the garbage collector",
			ref.Namespace, ref.Name, err, resource.InventoryFinalizer)}
	}
	return plan, nil
}

func planOf(u *unstructured.Unstructured) (*Plan, error) {
	format, compressed, err := payload(u)
	if err != nil {
		return nil, err
	}
	return Decode(format, compressed)
}

func payload(u *unstructured.Unstructured) (int64, []byte, error) {
	format, _, err := unstructured.NestedInt64(u.Object, "data", "format")
	if err != nil {
		return 0, nil, err
	}
	text, _, err := unstructured.NestedString(u.Object, "data", "gz")
	if err != nil {
		return 0, nil, err
	}
	compressed, err := base64.StdEncoding.DecodeString(text)
	return format, compressed, err
}

// Retire makes a record history: nothing that it lists is alive, or all of it
// is in a newer record. A record that is gone already is no error.
func (r *Records) Retire(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	patch, _ := json.Marshal(map[string]any{ // strings always encode
		"metadata": map[string]any{"uid": ref.UID, "finalizers": ref.Others},
	})
	u, err := r.in(ref.Namespace).Patch(ctx, ref.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot release inventory %q: %w", ref.Name, err)
	}
	return u, nil
}

// Release lets a record go: its finalizer is removed, then it is deleted.
// A record that is gone already is no error.
func (r *Records) Release(ctx context.Context, ref Ref) error {
	if ref.Active {
		if u, err := r.Retire(ctx, ref); err != nil || u == nil {
			return err
		}
	}
	if ref.Terminating {
		return nil
	}
	err := r.in(ref.Namespace).Delete(ctx, ref.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &ref.UID}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete inventory %q: %w", ref.Name, err)
	}
	return nil
}

// List returns the owner's records live, newest first: one request.
func (r *Records) List(ctx context.Context, o *resource.Owner) ([]Ref, error) {
	list, err := r.in(r.Namespace(o)).List(ctx, metav1.ListOptions{LabelSelector: resource.OwnerLabel + "=" + string(o.UID)})
	if err != nil {
		return nil, fmt.Errorf("cannot list the inventory of %s %q: %w", o.Kind.Kind, o.Key(), err)
	}
	refs := make([]Ref, 0, len(list.Items))
	for i := range list.Items {
		if Names(o, list.Items[i].GetName()) {
			refs = append(refs, RefOf(&list.Items[i]))
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int { return b.Compare(a) })
	return refs, nil
}

func (r *Records) in(namespace string) dynamic.ResourceInterface {
	return r.client.Resource(GVR).Namespace(namespace)
}
