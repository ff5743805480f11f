package writer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
)

// converge brings an existing object to its desired state.
func (w *Writer) converge(ctx context.Context, r *Request, live observer.Item) (Outcome, *Failure) {
	if f := terminating(r.id(), live.Object); f != nil {
		return Outcome{Live: live}, f
	}
	stamp, ours := w.key.Verify(r.Owner.UID, r.id(), live.Object.GetAnnotations()[resource.AppliedAnnotation])
	if !ours {
		return w.adopt(ctx, r, live)
	}
	if live.Object.GetAnnotations()[resource.DeletionTimestampAnnotation] != "" {
		return w.undelete(ctx, r, live)
	}
	now := pair{r.Desired.Hash, live.Fields.Digest()}
	if stamp.says(r.Desired.Hash) && now == r.Memory.settled {
		return Outcome{Live: live, Conflicts: r.Memory.Conflicts}, nil
	}
	if r.Memory.fruitless(now, w.now()) {
		return Outcome{Live: live}, fail(Retriable, ReasonNotConverging,
			"%s was applied, but does not stay what was applied: another controller or a webhook changes it back; see its metadata.managedFields", r.id())
	}
	if !stamp.says(r.Desired.Hash) || stamp.Hash == "" && !within(r.Desired.Object.Object, live.Object.Object) {
		return w.change(ctx, r, live, stamp)
	}
	desired := r.Desired.Object.Object
	if len(live.Fields.Owns(desired)) > 0 || len(live.Fields.Doubts(desired, live.Object.Object)) > 0 {
		return w.drift(ctx, r, stamp, nil)
	}
	r.Memory.settled, r.Memory.Conflicts = now, nil
	return Outcome{Live: live}, nil
}

func terminating(id resource.Identity, live *unstructured.Unstructured) *Failure {
	if live.GetDeletionTimestamp() == nil {
		return nil
	}
	if finalizers := live.GetFinalizers(); len(finalizers) > 0 {
		return fail(Waiting, ReasonTerminating, "waits until the old %s is gone: its finalizers %s are not released yet", id, strings.Join(finalizers, ", "))
	}
	return fail(Waiting, ReasonTerminating, "waits until the old %s is gone", id)
}

// change applies a new desired state.
func (w *Writer) change(ctx context.Context, r *Request, live observer.Item, stamp Stamp) (Outcome, *Failure) {
	live, f := w.migrate(ctx, r, live)
	if f != nil {
		return Outcome{Live: live, Wrote: true}, f
	}
	object := w.stamped(r, Stamp{Hash: r.Desired.Hash, Adopted: keepsAdopted(r, stamp)})
	applied, err := w.apply(ctx, r, object, live.Object.GetUID(), "")
	switch {
	case err == nil:
		return w.settle(r, live, applied, nil), nil
	case fieldConflict(err):
		return w.drift(ctx, r, stamp, err)
	}
	f = Classify(r.id(), err)
	if f.Reason == ReasonImmutableField && r.Desired.Object.GetAnnotations()[resource.OnImmutableAnnotation] == "recreate" {
		return Outcome{Live: live, Wrote: true}, w.replace(ctx, r, live)
	}
	if f.Reason == ReasonReplaced || f.Reason == ReasonConflict {
		_, _ = w.read(ctx, r) // observed again; what it says is acted on next time
	}
	return Outcome{Live: live, Wrote: true}, f
}

// migrate turns the Update entry that our POST left in managedFields into an
// Apply entry: otherwise our first apply would conflict with it, and fields
// that it drops would stay. The index comes from the cache; the
// resourceVersion guards it.
func (w *Writer) migrate(ctx context.Context, r *Request, live observer.Item) (observer.Item, *Failure) {
	entry, found := live.Fields.Entry(metav1.ManagedFieldsOperationUpdate)
	if !found {
		return live, nil
	}
	at := fmt.Sprintf("/metadata/managedFields/%d", entry.Index)
	patch, _ := json.Marshal([]map[string]any{ // maps of strings always encode
		{"op": "test", "path": at + "/manager", "value": FieldManager},
		{"op": "test", "path": at + "/operation", "value": metav1.ManagedFieldsOperationUpdate},
		{"op": "replace", "path": at + "/operation", "value": metav1.ManagedFieldsOperationApply},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.Object.GetResourceVersion()},
	})
	migrated, err := w.do(r, "migrate", func() (*unstructured.Unstructured, error) {
		return r.resource().Patch(ctx, r.id().Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	})
	if err == nil {
		return r.Recorder.Observe(migrated), nil
	}
	f := Classify(r.id(), err)
	if f.Reason == ReasonConflict || apierrors.IsInvalid(err) {
		_, _ = w.read(ctx, r) // somebody was faster; the next attempt starts from what is there
		f = fail(Retriable, ReasonConflict, "%s changed while it was about to be applied", r.id())
	}
	return live, f
}

// apply sends one server-side apply guarded by UID. With a resourceVersion it
// is forced, and fails when the object changed since.
func (w *Writer) apply(ctx context.Context, r *Request, object *unstructured.Unstructured, uid types.UID, version string) (*unstructured.Unstructured, error) {
	object.SetUID(uid)
	if version != "" {
		object.SetResourceVersion(version)
	}
	return w.do(r, "apply", func() (*unstructured.Unstructured, error) {
		return r.resource().Apply(ctx, r.id().Name, object, metav1.ApplyOptions{FieldManager: FieldManager, Force: version != ""})
	})
}

// settle remembers that nothing more is to be written in this state, and
// from which state the write started.
func (w *Writer) settle(r *Request, before observer.Item, applied *unstructured.Unstructured, conflicts Conflicts) Outcome {
	item := r.Recorder.Observe(applied)
	r.Memory.wroteFrom(pair{r.Desired.Hash, before.Fields.Digest()}, w.now())
	r.Memory.settled = pair{r.Desired.Hash, item.Fields.Digest()}
	r.Memory.Conflicts = conflicts
	return Outcome{Live: item, Wrote: true, Conflicts: conflicts}
}

// drift reads the object live and sets back what only Update entries hold.
// What another apply manager or a subresource holds is left out and reported,
// unless the desired object says to force it. refused is the conflict with
// which a change was refused; nil when there is nothing but drift.
func (w *Writer) drift(ctx context.Context, r *Request, stamp Stamp, refused error) (Outcome, *Failure) {
	whole, err := w.readWhole(ctx, r)
	if err != nil {
		return Outcome{}, Classify(r.id(), err)
	}
	live := r.Recorder.Observe(whole)
	live, f := w.migrate(ctx, r, live)
	if f != nil {
		return Outcome{Live: live}, f
	}
	missing := disputed(r.Desired.Object.Object, refused, lost(r, live, whole))
	retake, foreign := observer.SplitDrift(whole, FieldManager, missing...)
	if r.Desired.Object.GetAnnotations()[resource.ForceConflictsAnnotation] == "true" {
		retake, foreign = missing, nil
	}
	now := pair{r.Desired.Hash, live.Fields.Digest()}
	if len(retake) == 0 && refused == nil {
		r.Memory.settled, r.Memory.Conflicts = now, foreign
		return Outcome{Live: live, Conflicts: foreign}, nil
	}
	return w.retake(ctx, r, live, stamp, foreign)
}

func (w *Writer) retake(ctx context.Context, r *Request, live observer.Item, stamp Stamp, foreign Conflicts) (Outcome, *Failure) {
	object := w.stamped(r, Stamp{Hash: r.Desired.Hash, Adopted: keepsAdopted(r, stamp)})
	for _, c := range foreign {
		object.Object = observer.RemovePath(object.Object, c.Path)
	}
	applied, err := w.apply(ctx, r, copyMetadata(object), live.Object.GetUID(), live.Object.GetResourceVersion())
	if err != nil {
		return Outcome{Live: live, Wrote: true}, Classify(r.id(), err)
	}
	return w.settle(r, live, applied, foreign), nil
}

// undelete takes back the stamp of a delayed deletion: the object is wanted
// again.
func (w *Writer) undelete(ctx context.Context, r *Request, live observer.Item) (Outcome, *Failure) {
	patch, _ := json.Marshal(map[string]any{ // maps of strings always encode
		"metadata": map[string]any{
			"uid":         live.Object.GetUID(),
			"annotations": map[string]any{resource.DeletionTimestampAnnotation: nil},
		},
	})
	patched, err := w.do(r, "patch", func() (*unstructured.Unstructured, error) {
		return r.resource().Patch(ctx, r.id().Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: deletionManager})
	})
	if err != nil {
		return Outcome{Live: live}, Classify(r.id(), err)
	}
	out, f := w.converge(ctx, r, r.Recorder.Observe(patched))
	out.Wrote = true
	return out, f
}

// replace deletes an object whose immutable field has to change. When it is
// gone it is created anew.
func (w *Writer) replace(ctx context.Context, r *Request, live observer.Item) *Failure {
	uid := live.Object.GetUID()
	propagation := propagationOf(r.id().GroupKind())
	var left *metav1.PartialObjectMetadata
	err := w.measure(r.id(), "delete", func() (err error) {
		left, err = r.Client.Delete(ctx, r.Mapping.Resource, r.id().Namespace, r.id().Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation,
		})
		return err
	})
	if err != nil && !goneByName(err, r.id()) {
		return Classify(r.id(), err)
	}
	if gone(left) {
		r.Recorder.ObserveDeleted(r.id().Namespace, r.id().Name, uid, "")
		return fail(Retriable, ReasonReplaced, "%s was deleted to change an immutable field and is created anew", r.id())
	}
	return fail(Waiting, ReasonTerminating, "%s", deleting(r.id(), left))
}

func fieldConflict(err error) bool {
	return apierrors.IsConflict(err) && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}

// copyMetadata returns an object whose top level and metadata may be changed.
func copyMetadata(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := maps.Clone(u.Object)
	metadata, _ := out["metadata"].(map[string]any)
	out["metadata"] = maps.Clone(metadata)
	return &unstructured.Unstructured{Object: out}
}
