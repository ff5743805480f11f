package executor

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// A namespace can be emptied by force while no manager runs: all records come
// with the first list then.
func TestEveryRecordThatOutlivedItsOwnerIsReleased(t *testing.T) {
	const many = 100
	g := NewWithT(t)
	h := newHost(t)
	u := h.create("{apiVersion: executor.example.com/v1, kind: Bond, metadata: {name: o}}")
	o := &owner{h: h, object: resource.Owner{
		UID: u.GetUID(), Kind: u.GroupVersionKind(), Resource: "bonds", Namespace: h.namespace, Name: "o", Manager: h.options.Manager,
	}}
	h.stop()
	for i := range many {
		record := inventory.Name(&o.object, fmt.Sprintf("%010d", i))
		o.forge(record)
		h.delete(inventory.GVR, record) // as the garbage collector will
	}
	mapping, err := h.cluster.Mapping(u.GroupVersionKind().GroupKind(), "v1")
	g.Expect(err).NotTo(HaveOccurred())
	h.delete(mapping.Resource, "o")
	left := func() int {
		list, err := h.in(inventory.GVR).List(h.ctx, metav1.ListOptions{LabelSelector: resource.OwnerLabel + "=" + string(u.GetUID())})
		g.Expect(err).NotTo(HaveOccurred())
		return len(list.Items)
	}
	g.Expect(left()).To(Equal(many))
	h.start()
	g.Eventually(left, patience, 10*glance).Should(BeZero())
}
