package observer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestViewConvergesToTheServer writes, deletes and observes at once, by our own
// hand and by others', and expects the store to end where the server is: no
// response may bring back what is gone, or hide what is there.
func TestViewConvergesToTheServer(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	s := w.run(Options{}).Acquire(Key{Resource: configMaps, Namespace: w.namespace, Selector: "truss.dev/manager=core"})
	var wg sync.WaitGroup
	for worker := range 6 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 7)) //nolint:gosec // the same steps in every run
			for range 60 {
				w.randomStep(s, random, worker%3 != 0)
			}
		})
	}
	wg.Wait()
	g.Eventually(func() map[string]string { return versions(s.List()) }, "10s", "20ms").Should(Equal(w.liveVersions()))
	for name := range w.liveVersions() {
		g.Expect(presenceOf(s, w.namespace, name)()).To(Equal(Present))
	}
	_, presence := s.Get(w.namespace, "never")
	g.Expect(presence).To(Equal(Absent))
}

// randomStep creates, changes, deletes or unlabels one of few objects. Steps of
// others are not observed.
func (w *world) randomStep(s *Store, random *rand.Rand, ours bool) {
	cms := w.client.Dynamic.Resource(configMaps).Namespace(w.namespace)
	name := fmt.Sprintf("cm-%d", random.IntN(8))
	var got *unstructured.Unstructured
	var err error
	switch random.IntN(6) {
	case 0, 1, 2:
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		u.SetName(name)
		u.SetLabels(map[string]string{"truss.dev/manager": "core"})
		got, err = cms.Create(w.ctx, u, metav1.CreateOptions{})
	case 3:
		patch := fmt.Appendf(nil, `{"data":{"k":"%d"}}`, random.IntN(1000))
		got, err = cms.Patch(w.ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	case 4:
		patch := []byte(`{"metadata":{"labels":{"truss.dev/manager":null}}}`)
		got, err = cms.Patch(w.ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	default:
		w.deleteObserved(s, name, ours)
		return
	}
	if err == nil && ours {
		s.Observe(got)
	}
}

// deleteObserved deletes with a UID precondition, as the writer does.
func (w *world) deleteObserved(s *Store, name string, ours bool) {
	cms := w.client.Dynamic.Resource(configMaps).Namespace(w.namespace)
	live, err := cms.Get(w.ctx, name, metav1.GetOptions{})
	if err != nil {
		return
	}
	uid := live.GetUID()
	err = cms.Delete(w.ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if (err == nil || apierrors.IsNotFound(err)) && ours {
		s.ObserveDeleted(w.namespace, name, uid, "")
	}
}

func (w *world) liveVersions() map[string]string {
	list, err := w.client.Dynamic.Resource(configMaps).Namespace(w.namespace).
		List(context.Background(), metav1.ListOptions{LabelSelector: "truss.dev/manager=core"})
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for i := range list.Items {
		out[list.Items[i].GetName()] = list.Items[i].GetResourceVersion()
	}
	return out
}

func versions(items []Item) map[string]string {
	out := map[string]string{}
	for _, i := range items {
		out[i.Object.GetName()] = i.Object.GetResourceVersion()
	}
	return out
}
