package executor

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// forge writes a record that claims to be the owner's.
func (o *owner) forge(name string) {
	o.h.t.Helper()
	u := parse(o.h.t, fmt.Sprintf(`{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: %q, finalizers: [%s],
		annotations: {%s: "99"}}, revision: 99, data: {format: 1, gz: AAAA}}`, name, resource.InventoryFinalizer, inventory.GenerationAnnotation))
	u.SetLabels(o.object.Labels())
	u.SetOwnerReferences(append(u.GetOwnerReferences(), o.object.Reference(true)))
	_, err := o.h.in(inventory.GVR).Create(o.h.ctx, u, metav1.CreateOptions{})
	o.h.must(err)
}

func TestARecordThatCannotBeReadIsNamedUntilItIsGone(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"))
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	forged := inventory.Name(&o.object, "0000000000")
	o.forge("forged")
	o.forge(forged)

	g.Eventually(func() int { return len(h.x.recordsOf(&o.object)) }, patience, glance).Should(Equal(2), "a record of another name is none of ours")
	o.want(h.configMap("b", "v"))
	g.Eventually(func() error {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.report.failure
	}, patience, glance).Should(MatchError(ContainSubstring(forged)))
	o.delete()
	g.Eventually(func() string { return o.takenDown().Message }, patience, glance).Should(ContainSubstring(forged))
	g.Expect(o.takenDown().Reason).To(Equal(inventory.ReasonUnreadable))
	g.Expect(o.takenDown().Failed).To(BeTrue())
	g.Expect(h.get(configMaps, "a")).NotTo(BeNil())

	h.patch(inventory.GVR, forged, "{metadata: {finalizers: null}}")
	h.delete(inventory.GVR, forged)
	h.skip(slowRetryMin)
	g.Eventually(o.gone, patience, glance).Should(BeTrue())
	g.Expect(h.get(configMaps, "a")).To(BeNil())
	h.patch(inventory.GVR, "forged", "{metadata: {finalizers: null}}")
}
