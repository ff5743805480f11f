package executor

import (
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

func (h *host) mixed() []graph.Node[resource.Node] {
	return []graph.Node[resource.Node]{
		h.configMap("a", "v"),
		reading(h.configMap("b", "", "a"), field("a", "data", "k")),
		h.service("s", "b"),
		reading(h.configMap("c", "", "s"), addressOf("s")),
		h.node("{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {k: v}}", "c"),
		h.node("{apiVersion: v1, kind: ServiceAccount, metadata: {name: z}}"),
	}
}

func TestARestartOfASettledOwnerSendsNothing(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.mixed()...)
	g.Eventually(func() any { return h.get(services, "s") }, patience, glance).ShouldNot(BeNil())
	h.address("s", "10.0.0.1")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	for _, change := range []struct {
		reason string
		nodes  []graph.Node[resource.Node]
	}{
		{"as it was made", h.mixed()},
		{"after a change", append([]graph.Node[resource.Node]{h.configMap("a", "w")}, h.mixed()[1:]...)},
		{"after a removal", h.mixed()[:5]},
		{"after an addition", append(h.mixed()[:5], h.configMap("added", "v"))},
	} {
		o.want(change.nodes...)
		g.Eventually(o.settled, patience, glance).Should(BeTrue(), func() string { return change.reason + ": " + o.String() })
		h.traffic.take()
		h.restart()
		g.Eventually(o.settled, patience, glance).Should(BeTrue(), func() string { return change.reason + ": " + o.String() })
		g.Expect(h.traffic.take()).To(BeEmpty(), change.reason)
	}
}

func TestASettledOwnerIsQuiet(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	h.traffic.take()
	h.patch(configMaps, "a", "{metadata: {labels: {theirs: x}}}")
	for range 3 {
		h.skip(0)
	}
	g.Consistently(func() []string { return h.traffic.look() }, "300ms", "50ms").Should(BeEmpty())
}

func TestARestartInMidRunGoesOn(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.mixed()...)
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready b=Ready s=InProgress c=Blocked x=Blocked z=Ready"))
	h.restart()
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready b=Ready s=InProgress c=Blocked x=Blocked z=Ready"))
	h.address("s", "10.0.0.1")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take("create configmaps")).To(HaveLen(3), "each is created once")
}

func TestTheEndAtAnyWriteLosesNothingAndDoublesNothing(t *testing.T) {
	for k := range 5 {
		g := NewWithT(t)
		h := newHost(t, func(o *Options) { o.OwnerWrites = 1 })
		o := h.owner("o")
		var once sync.Once
		ended := make(chan struct{})
		count := 0
		h.traffic.hold(func(line string) {
			if !strings.HasPrefix(line, "create ") {
				return
			}
			if count++; count > k {
				once.Do(func() {
					h.cancel()
					close(ended)
				})
			}
		})
		o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"), h.configMap("c", "v", "b"), h.configMap("d", "v", "c"))
		g.Eventually(ended, patience, glance).Should(BeClosed())
		h.restart()
		g.Eventually(o.settled, patience, glance).Should(BeTrue())
		h.traffic.hold(nil)
		g.Expect(o.names(configMaps)).To(Equal([]string{"a", "b", "c", "d"}))
		g.Expect(h.traffic.take("create configmaps")).To(HaveLen(4), "end at write %d: none is made twice, none is tried in vain", k)
		g.Expect(o.active()).To(Equal(1))
	}
}
