package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
)

var records = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}

func (w *world) noRecords() bool {
	list, err := w.of(records).List(w.t.Context(), metav1.ListOptions{LabelSelector: resource.OwnerLabel})
	return err == nil && len(list.Items) == 0
}

// F29: what kubectl's --cascade=orphan promises holds for a Bundle, too.
func TestBundleDeletedWithOrphanLeavesItsObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", configMap("a", "k: v", ""), configMap("b", "k: v", "", "a")))
	w.ready("app")
	orphan := metav1.DeletePropagationOrphan
	w.Expect(w.of(bundles).Delete(t.Context(), "app", metav1.DeleteOptions{PropagationPolicy: &orphan})).To(Succeed())
	w.Eventually(w.gone(bundles, "app")).Should(BeTrue())
	for _, name := range []string{"a", "b"} {
		u := w.get(configMaps, name)
		w.Expect(u.GetOwnerReferences()).To(BeEmpty(), "the garbage collector would delete %s", name)
		w.Expect(u.GetLabels()).NotTo(HaveKey(resource.OwnerLabel))
		w.Expect(u.GetAnnotations()).NotTo(HaveKey(resource.AppliedAnnotation))
	}
	w.Eventually(w.noRecords).Should(BeTrue(), "the inventory goes with its owner")
}

// Taking the finalizer off by force gives the objects to the garbage
// collector; the inventory must not stay behind for ever.
func TestForcedRemovalOfTheFinalizerLeavesNoInventory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", configMap("held", "k: v", "finalizers: [e2e.truss.dev/hold]")))
	w.ready("app")
	w.Expect(w.of(bundles).Delete(t.Context(), "app", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.field(configMaps, "held", "metadata", "deletionTimestamp")).ShouldNot(BeNil())
	none := []byte(`{"metadata":{"finalizers":null}}`)
	_, err := w.of(bundles).Patch(t.Context(), "app", types.MergePatchType, none, metav1.PatchOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(w.gone(bundles, "app")).Should(BeTrue())
	w.Eventually(w.noRecords).Should(BeTrue())
	_, err = w.of(configMaps).Patch(t.Context(), "held", types.MergePatchType, none, metav1.PatchOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(w.gone(configMaps, "held")).Should(BeTrue())
}
