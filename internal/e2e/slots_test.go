package e2e

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/manager"
)

// Two managers share the owners by slots: each Bundle is claimed and served
// by one of them, and nothing is made twice. Not parallel: it replaces the
// manager of the other tests.
func TestTwoManagersWithHalfOfTheSlotsEachServeAllBundles(t *testing.T) {
	w := newWorld(t)
	restart(t, manager.Options{Slots: "0-31"})
	other, err := start(context.Background(), plane, manager.Options{Slots: "32-63"}, nil)
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(other.stop)
	since := mark(t)
	const n = 8
	for i := range n {
		w.apply(bundleOf(fmt.Sprint("b", i), configMap(fmt.Sprint("a", i), "k: v", ""), configMap(fmt.Sprint("z", i), "k: v", "", fmt.Sprint("a", i))))
	}
	low := 0
	for i := range n {
		name := fmt.Sprint("b", i)
		w.ready(name)
		b := w.bundle(name)
		slot := resource.SlotOf(b.UID)
		w.Expect(b.Labels).To(HaveKeyWithValue(resource.SlotLabel, strconv.Itoa(slot)))
		if slot < 32 {
			low++
		}
	}
	t.Logf("%d of %d Bundles fell to the first manager", low, n)
	created := map[string]int{}
	for _, r := range requests(t, since, w.ns) {
		if r.Verb == "create" && r.ObjectRef.Resource == "configmaps" {
			created[r.ObjectRef.Name]++
		}
	}
	for i := range n {
		w.Expect(created).To(And(HaveKeyWithValue(fmt.Sprint("a", i), 1), HaveKeyWithValue(fmt.Sprint("z", i), 1)))
	}
	for i := range n {
		w.Expect(w.of(bundles).Delete(t.Context(), fmt.Sprint("b", i), metav1.DeleteOptions{})).To(Succeed())
	}
	for i := range n {
		w.Eventually(w.gone(bundles, fmt.Sprint("b", i))).Should(BeTrue())
	}
}
