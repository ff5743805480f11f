package writer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
)

// deletionManager writes the stamp of a delayed deletion; a manager of its
// own, so that the stamp is no field of the desired object.
const deletionManager = "truss-deletion"

// Removal is one recorded object to take down.
type Removal struct {
	Owner  *resource.Owner
	Entry  *inventory.Entry
	Client *cluster.Client
	// Own is the manager's own client; it reads CRDs.
	Own *cluster.Client
	// Final says that the owner itself goes: delays do not hold it up.
	Final    bool
	Recorder Recorder

	// elsewhere says that another version than the recorded one is tried.
	elsewhere bool
}

func (r *Removal) id() resource.Identity { return r.Entry.Identity }

// Removed says how far a removal got.
type Removed struct {
	// Gone is proved: a 404 that names the object or its CRD, or the answer
	// to a DELETE that left nothing behind.
	Gone bool
	// Kept says that the object stays: it is not ours, was adopted, or asks
	// to be detached. It counts as gone.
	Kept bool
	// Message says what is waited for, or why the object was kept.
	Message string
	// UID of the object that is being deleted.
	UID types.UID
	// After is when a delayed deletion is due; zero when it is not delayed.
	After time.Duration
}

// Delete takes down one object: a live read of its metadata, which decides
// whether it is ours, then a DELETE with that UID as precondition. It does not
// wait; call it again when the object changes.
func (w *Writer) Delete(ctx context.Context, r *Removal) (Removed, *Failure) {
	live, err := w.readMetadata(ctx, r)
	if err != nil {
		return w.absent(ctx, r, err)
	}
	stamp, ours := w.key.Verify(r.Owner.UID, r.id(), live.GetAnnotations()[resource.AppliedAnnotation])
	if !ours {
		return Removed{Gone: true, Kept: true, Message: fmt.Sprintf("%s was left alone: it was not made by this owner", r.id())}, nil
	}
	if r.Owner.Orphan || stamp.Adopted || live.GetAnnotations()[resource.DeletionAnnotation] == "detach" {
		return w.detach(ctx, r, live)
	}
	if live.GetDeletionTimestamp() != nil {
		return Removed{UID: live.GetUID(), Message: deleting(r.id(), live)}, nil
	}
	if after, wait, f := w.delay(ctx, r, live); f != nil || wait {
		return Removed{UID: live.GetUID(), After: after, Message: fmt.Sprintf("%s is kept for another %s (%s)", r.id(), after.Round(time.Second), resource.DeletionDelayAnnotation)}, f
	}
	return w.delete(ctx, r, live)
}

func (w *Writer) delete(ctx context.Context, r *Removal, live *metav1.PartialObjectMetadata) (Removed, *Failure) {
	uid := live.GetUID()
	propagation := propagationOf(r.id().GroupKind())
	var left *metav1.PartialObjectMetadata
	err := w.measure(r.id(), "delete", func() (err error) {
		left, err = r.Client.Delete(ctx, r.Entry.GVR(), r.id().Namespace, r.id().Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation,
		})
		return err
	})
	if err != nil {
		if apierrors.IsNotFound(err) {
			return w.absent(ctx, r, err)
		}
		return Removed{UID: uid}, classify("delete", r.id(), err)
	}
	if gone(left) {
		r.Recorder.ObserveDeleted(r.id().Namespace, r.id().Name, uid, "")
		return Removed{Gone: true, UID: uid}, nil
	}
	return Removed{UID: uid, Message: deleting(r.id(), left)}, nil
}

// gone says whether the answer to a DELETE proves that nothing is left. Some
// kinds, such as Services, answer with the object as it was.
func gone(left *metav1.PartialObjectMetadata) bool {
	return left == nil || left.DeletionTimestamp == nil
}

func deleting(id resource.Identity, live metav1.Object) string {
	if f := live.GetFinalizers(); len(f) > 0 {
		return fmt.Sprintf("%s is being deleted; waits for its finalizers %s", id, strings.Join(f, ", "))
	}
	return fmt.Sprintf("%s is being deleted", id)
}

// propagationOf chooses background for kinds that own nothing, so that they
// are gone with the answer, and foreground for all others: a workload counts
// as gone when what it made is gone.
func propagationOf(gk schema.GroupKind) metav1.DeletionPropagation {
	switch gk.Group {
	case corev1.GroupName:
		if gk.Kind != "ReplicationController" {
			return metav1.DeletePropagationBackground
		}
	case "policy", "rbac.authorization.k8s.io", "networking.k8s.io", "autoscaling", "storage.k8s.io", "scheduling.k8s.io":
		return metav1.DeletePropagationBackground
	}
	return metav1.DeletePropagationForeground
}

func (w *Writer) readMetadata(ctx context.Context, r *Removal) (*metav1.PartialObjectMetadata, error) {
	var live *metav1.PartialObjectMetadata
	err := w.measure(r.id(), "get", func() (err error) {
		live, err = r.Client.Metadata.Resource(r.Entry.GVR()).Namespace(r.id().Namespace).Get(ctx, r.id().Name, metav1.GetOptions{})
		return err
	})
	return live, err
}

// detach leaves an object in place without a trace of its owner: with our
// ownerReference on it the garbage collector would delete it.
func (w *Writer) detach(ctx context.Context, r *Removal, live *metav1.PartialObjectMetadata) (Removed, *Failure) {
	labels := map[string]any{}
	for k, v := range r.Owner.Labels() {
		if live.Labels[k] == v {
			labels[k] = nil
		}
	}
	refs, err := foreignReferences(r, live)
	if err != nil {
		return Removed{}, classify("delete", r.id(), err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": live.UID, "resourceVersion": live.ResourceVersion,
		"labels": labels, "ownerReferences": refs,
		"annotations": map[string]any{resource.AppliedAnnotation: nil, resource.DeletionTimestampAnnotation: nil},
	}})
	if err != nil {
		return Removed{}, classify("delete", r.id(), err)
	}
	err = w.measure(r.id(), "patch", func() error {
		_, err := r.Client.Metadata.Resource(r.Entry.GVR()).Namespace(r.id().Namespace).
			Patch(ctx, r.id().Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
		return err
	})
	if err != nil && !goneByName(err, r.id()) {
		return Removed{UID: live.UID}, classify("delete", r.id(), err)
	}
	return Removed{Gone: true, Kept: true, Message: fmt.Sprintf("%s was detached and stays", r.id())}, nil
}

// foreignReferences are those that our field manager does not hold. Ours point
// at the owner and at needs, which are deleted: then the garbage collector
// would delete what was to stay.
func foreignReferences(r *Removal, live *metav1.PartialObjectMetadata) ([]metav1.OwnerReference, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, err
	}
	fields := observer.FieldsOf(object, FieldManager)
	return slices.DeleteFunc(slices.Clone(live.OwnerReferences), func(ref metav1.OwnerReference) bool {
		item := map[string]any{"uid": string(ref.UID)}
		held := fields.Owns(map[string]any{"metadata": map[string]any{"ownerReferences": []any{item}}})
		return ref.UID == r.Owner.UID || len(held) == 0
	}), nil
}

// delay holds a prune up for the duration that the object asks for. The first
// pass stamps the object, so that the time runs on over restarts.
func (w *Writer) delay(ctx context.Context, r *Removal, live *metav1.PartialObjectMetadata) (after time.Duration, wait bool, f *Failure) {
	text := live.Annotations[resource.DeletionDelayAnnotation]
	if text == "" || r.Final {
		return 0, false, nil
	}
	delay, err := time.ParseDuration(text)
	if err != nil {
		return 0, true, fail(Terminal, ReasonInvalid, "%s cannot be pruned: its annotation %s: %v; write a duration such as 24h", r.id(), resource.DeletionDelayAnnotation, err)
	}
	if since, err := time.Parse(time.RFC3339, live.Annotations[resource.DeletionTimestampAnnotation]); err == nil {
		left := delay - w.now().Sub(since)
		return left, left > 0, nil
	}
	return delay, true, w.stampDeletion(ctx, r, live)
}

func (w *Writer) stampDeletion(ctx context.Context, r *Removal, live *metav1.PartialObjectMetadata) *Failure {
	// Whole seconds, rounded up: nothing goes before its time.
	stamp := w.now().UTC().Add(time.Second - 1).Format(time.RFC3339)
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, live.UID, resource.DeletionTimestampAnnotation, stamp)
	err := w.measure(r.id(), "patch", func() error {
		_, err := r.Client.Metadata.Resource(r.Entry.GVR()).Namespace(r.id().Namespace).
			Patch(ctx, r.id().Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: deletionManager})
		return err
	})
	if err != nil {
		return classify("delete", r.id(), err)
	}
	return nil
}
