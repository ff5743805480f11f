package writer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// DryRun asks the API server whether it would accept an object. Nothing is
// written, whether the object exists or not.
func (w *Writer) DryRun(ctx context.Context, r *Request) *Failure {
	if f := w.Admit(r.Owner, r.id(), r.Mapping); f != nil {
		return f
	}
	object := w.stamped(r, Stamp{Hash: r.Desired.Hash})
	_, err := w.do(r, "dryrun", func() (*unstructured.Unstructured, error) {
		return r.resource().Apply(ctx, r.id().Name, object, metav1.ApplyOptions{
			FieldManager: FieldManager, Force: true, DryRun: []string{metav1.DryRunAll},
		})
	})
	if err != nil {
		return Classify(r.id(), err)
	}
	return nil
}
