package writer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
)

// adopt deals with an object that exists and is not ours. Without the
// author's word it is left untouched; with it, it is taken over by one forced
// apply, unless another controller has it.
func (w *Writer) adopt(ctx context.Context, r *Request, seen observer.Item) (Outcome, *Failure) {
	live, f := w.newest(ctx, r, seen)
	if f != nil {
		return Outcome{}, f
	}
	mode := r.Desired.Object.GetAnnotations()[resource.AdoptAnnotation]
	if mode != "true" && mode != "delete" {
		return Outcome{Live: live}, collision(r.id(), live.Object)
	}
	if f := controlledByOthers(r, live); f != nil {
		return Outcome{Live: live}, f
	}
	object := w.stamped(r, Stamp{Hash: r.Desired.Hash, Adopted: mode == "true"})
	applied, err := w.apply(ctx, r, object, live.Object.GetUID(), live.Object.GetResourceVersion())
	if err != nil {
		return Outcome{Live: live, Wrote: true}, Classify(r.id(), err)
	}
	return w.settle(r, live, applied, nil), nil
}

// newest reads an object again that only a cache showed: it may still show what
// is gone, and force needs the newest.
func (w *Writer) newest(ctx context.Context, r *Request, seen observer.Item) (observer.Item, *Failure) {
	if r.Live == nil {
		return seen, nil // it was read just now
	}
	live, err := w.read(ctx, r)
	if err != nil && goneByName(err, r.id()) {
		r.Recorder.ObserveDeleted(r.id().Namespace, r.id().Name, seen.Object.GetUID(), "")
		return live, fail(Retriable, ReasonReplaced, "%s was in the way and is gone", r.id())
	}
	if err != nil {
		return live, Classify(r.id(), err)
	}
	return live, nil
}

// keepsAdopted says whether an adopted object is still to be left at teardown.
func keepsAdopted(r *Request, s Stamp) bool {
	return s.Adopted && r.Desired.Object.GetAnnotations()[resource.AdoptAnnotation] != "delete"
}

func controlledByOthers(r *Request, live observer.Item) *Failure {
	controller := metav1.GetControllerOf(live.Object)
	if controller == nil || controller.UID == r.Owner.UID {
		return nil
	}
	return fail(Terminal, ReasonAdoptionRefused,
		"%s cannot be adopted: it is controlled by %s %q", r.id(), controller.Kind, controller.Name)
}

func collision(id resource.Identity, live *unstructured.Unstructured) *Failure {
	holder := "nobody controls it"
	if c := metav1.GetControllerOf(live); c != nil {
		holder = "it is controlled by " + c.Kind + " " + c.Name
	}
	return fail(Terminal, ReasonCollision,
		"%s exists and was not made by this owner (%s): choose another name, delete it, or adopt it with the annotation %s: \"true\"",
		id, holder, resource.AdoptAnnotation)
}
