package executor

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// Waits of tests: generous, since machines are slow; short between looks.
const (
	patience = 20 * time.Second
	glance   = 10 * time.Millisecond
)

func TestAChainOfObjectsReadyOnCreationIsOneReconcile(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	h.traffic.take()
	o.want(h.configMap("c", "v", "b"), h.configMap("b", "v", "a"), h.configMap("a", "v"))
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take(writes...)).To(Equal([]string{
		"create controllerrevisions", "create configmaps", "create configmaps", "create configmaps",
	}), "the inventory comes first, and each child costs one request")
	g.Expect(o.states()).To(Equal("c=Ready b=Ready a=Ready"))
	c := h.get(configMaps, "c")
	g.Expect(c.GetOwnerReferences()).To(HaveLen(2), "the owner and the need")
	g.Expect(c.GetOwnerReferences()[1].UID).To(Equal(h.get(configMaps, "b").GetUID()))
	g.Expect(o.compiled).To(Equal(1))
}

func TestFailureBlocksOnlyItsDependants(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	h.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: theirs}}")
	o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"), h.configMap("d", "v"), h.configMap("e", "v", "d"))
	g.Eventually(o.states, patience, glance).Should(Equal("a=Error b=Blocked d=Ready e=Ready"))
	g.Expect(o.status("a").Reason).To(Equal("Collision"))
	g.Expect(o.status("b").BlockedBy).To(Equal([]graph.ID{"a"}))
	g.Expect(h.value("a")()).To(Equal("theirs"))

	h.traffic.take()
	h.patch(configMaps, "a", "{data: {k: again}}")
	h.delete(configMaps, "a")
	g.Eventually(o.ready, patience, glance).Should(BeTrue(), "the departure of the foreign object wakes the node")
	g.Expect(h.value("b")()).To(Equal("v"))
}

func TestAForeignObjectThatIsGoingWakesTheNodeWhenItIsGone(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [example.com/slow]}}")
	h.delete(configMaps, "a")
	o := h.owner("o")
	o.want(h.configMap("a", "v"))
	g.Eventually(o.reason("a"), patience, glance).Should(Equal("Terminating"))
	h.patch(configMaps, "a", "{metadata: {finalizers: null}}")
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
}

func TestNeedThatIsNotReadyHoldsBackChangesButDeletesNothing(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.service("s"), reading(h.configMap("c", "", "s"), addressOf("s")))
	g.Eventually(o.states, patience, glance).Should(Equal("s=InProgress c=Blocked"))
	h.address("s", "10.0.0.1")
	g.Eventually(h.value("c"), patience, glance).Should(Equal("10.0.0.1"))
	h.address("s", "")
	g.Eventually(o.states, patience, glance).Should(Equal("s=InProgress c=Blocked"))
	g.Expect(h.value("c")()).To(Equal("10.0.0.1"), "nothing is deleted or changed")
	h.address("s", "10.0.0.2")
	g.Eventually(h.value("c"), patience, glance).Should(Equal("10.0.0.2"))
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
}

func TestANeedThatIsRecreatedGivesDependantsItsNewUID(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"))
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	before := h.get(configMaps, "a").GetUID()
	h.delete(configMaps, "a")
	g.Eventually(func() bool {
		a, b := h.get(configMaps, "a"), h.get(configMaps, "b")
		return a != nil && b != nil && a.GetUID() != before && len(b.GetOwnerReferences()) == 2 && b.GetOwnerReferences()[1].UID == a.GetUID()
	}, patience, glance).Should(BeTrue())
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
}

func TestNewGenerationSupersedesWaitsAtOnce(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.service("s"), h.configMap("c", "one", "s"))
	g.Eventually(o.states, patience, glance).Should(Equal("s=InProgress c=Blocked"))
	o.want(h.configMap("c", "two"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.value("c")()).To(Equal("two"))
	g.Expect(h.get(services, "s")).To(BeNil())
}

func TestSupersededRunsBeginNoWrite(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t, func(o *Options) { o.OwnerWrites = 1 })
	o := h.owner("o")
	superseded := make(chan struct{})
	h.traffic.hold(func(line string) {
		if line == "create configmaps" {
			select {
			case <-superseded:
			default:
				o.want(h.configMap("z", "v"))
				close(superseded)
			}
		}
	})
	o.want(h.configMap("a", "v"), h.configMap("b", "v"), h.configMap("c", "v"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take("create configmaps")).To(HaveLen(2), "the request in flight was awaited, and no other of the old generation begun")
	g.Expect(o.names(configMaps)).To(Equal([]string{"z"}))
}

func TestAChangeTouchesTheChangedNodeAndItsReaders(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	nodes := func(value string) []graph.Node[resource.Node] {
		return []graph.Node[resource.Node]{
			h.configMap("a", value),
			reading(h.configMap("b", "", "a"), field("a", "data", "k")),
			reading(h.configMap("c", "", "b"), field("b", "metadata", "name")),
			h.configMap("d", "v", "c"),
		}
	}
	o.want(nodes("one")...)
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	g.Expect(h.value("b")()).To(Equal("one"))
	h.traffic.take()
	o.want(nodes("two")...)
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	g.Expect(h.value("b")()).To(Equal("two"))
	g.Expect(h.traffic.take(writes...)).To(Equal([]string{
		"patch configmaps/a", "patch configmaps/a", "patch configmaps/b", "patch configmaps/b",
	}), "what others render to did not change")
}

func TestDriftWakesTheNode(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"))
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	h.patch(configMaps, "a", "{data: {k: edited}}")
	g.Eventually(h.value("a"), patience, glance).Should(Equal("v"))
	h.patch(configMaps, "a", "{metadata: {labels: {truss.dev/manager: null, truss.dev/owner: null}}}")
	g.Eventually(func() string { return h.get(configMaps, "a").GetLabels()["truss.dev/manager"] }, patience, glance).Should(Equal(h.options.Manager))
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
}
