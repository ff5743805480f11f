package executor

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestAnUnknownKindWaitsAndWakesWhenItsCRDComes(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.node("{apiVersion: late.example.com/v1, kind: Comer, metadata: {name: x}}", "a"), h.configMap("c", "v", "x"), h.configMap("d", "v"))
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready x=InProgress c=Blocked d=Ready"))
	g.Expect(o.status("x").Reason).To(Equal("KindUnknown"))
	g.Expect(o.status("x").Message).To(ContainSubstring("Comer.late.example.com"))
	h.serve("comers", "Comer")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Eventually(o.active, patience, glance).Should(Equal(1), "the record that lacked the kind is history")
	h.traffic.take()
	h.restart()
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take(writes...)).To(BeEmpty())
}

func TestACRDThatComesBackGetsItsObjectsBack(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	crd := h.serve("comebacks", "Comeback")
	o := h.owner("o")
	o.want(h.node("{apiVersion: late.example.com/v1, kind: Comeback, metadata: {name: x}}"), h.configMap("c", "v", "x"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	before := h.get(configMaps, "c").GetUID()
	h.unserve(crd)
	g.Eventually(o.states, patience, glance).Should(Equal("x=InProgress c=Blocked"))
	h.serve("comebacks", "Comeback")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.get(configMaps, "c").GetUID()).To(Equal(before), "dependants stay")
}
