package executor

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// optional is a node that renders nothing unless its need's data is "yes".
func (h *host) optional(name string, need graph.ID, more string) graph.Node[resource.Node] {
	n := h.node("{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+more+"}, data: {k: v}}", string(need))
	object := n.Payload.Template
	n.Payload.Static = false
	n.Payload.Render = func(_ context.Context, in resource.Inputs) (resource.Rendered, error) {
		if in.Object(need) == nil {
			return resource.Rendered{Excluded: true}, nil
		}
		value, _, err := unstructured.NestedString(in.Object(need).Object, "data", "k")
		if value != "yes" || err != nil {
			return resource.Rendered{Excluded: true}, err
		}
		return resource.Rendered{Object: object}, nil
	}
	return n
}

func TestAnExcludedNodeHasNoObjectAndBlocksNobody(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "no"), h.optional("b", "a", ""), reading(h.configMap("c", "", "b"), field("b", "data", "k")))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(o.states()).To(Equal("a=Ready b=Excluded c=Ready"))
	g.Expect(h.value("c")()).To(Equal("absent"))
	g.Expect(h.get(configMaps, "b")).To(BeNil())
	h.traffic.take()
	h.restart()
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take()).To(BeEmpty(), "what was never made is not looked for")
}

func TestAnExcludedObjectGoesAfterItsDependantsWereRenderedWithoutIt(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	nodes := func(value string) []graph.Node[resource.Node] {
		return []graph.Node[resource.Node]{
			h.configMap("a", value), h.optional("b", "a", ""), reading(h.configMap("c", "", "b"), field("b", "data", "k")),
			h.configMap("d", "v", "b"),
		}
	}
	o.want(nodes("yes")...)
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.value("c")()).To(Equal("v"))
	h.traffic.take()
	o.want(nodes("no")...)
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(o.states()).To(Equal("a=Ready b=Excluded c=Ready d=Ready"))
	lines := h.traffic.take(writes...)
	g.Expect(lines[len(lines)-1]).To(Equal("delete configmaps/b"), "in the end, when c and d do not refer to it any more: %v", lines)
	g.Expect(h.value("c")()).To(Equal("absent"))
	g.Expect(h.get(configMaps, "d").GetOwnerReferences()).To(HaveLen(1))
	g.Expect(h.get(configMaps, "b")).To(BeNil())

	h.restart()
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take()).To(BeEmpty())

	o.want(nodes("yes")...)
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.value("b")()).To(Equal("v"), "it comes back")
	g.Expect(h.value("c")()).To(Equal("v"))
}

func TestAnExcludedObjectStaysWhileADependantWaits(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	nodes := func(value string) []graph.Node[resource.Node] {
		return []graph.Node[resource.Node]{
			h.configMap("a", value), h.optional("b", "a", ""), h.service("s"),
			reading(h.configMap("c", "", "b", "s"), field("b", "data", "k")),
		}
	}
	o.want(nodes("yes")...)
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready b=Ready s=InProgress c=Blocked"))
	h.address("s", "10.0.0.1")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	h.address("s", "")
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready b=Ready s=InProgress c=Blocked"))
	o.want(nodes("no")...)
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready b=Excluded s=InProgress c=Blocked"))
	g.Eventually(func() string { return o.status("b").Message }, patience, glance).Should(ContainSubstring(`"c" was rendered without it`))
	g.Expect(h.get(configMaps, "b")).NotTo(BeNil(), "c still uses it")
	h.restart()
	g.Eventually(func() string { return o.status("b").Message }, patience, glance).Should(ContainSubstring(`"c" was rendered without it`))
	h.address("s", "10.0.0.2")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.get(configMaps, "b")).To(BeNil())
	g.Expect(h.value("c")()).To(Equal("absent"))
}

func TestExcludedObjectsGoInReverseAndWaitForFinalizers(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	nodes := func(value string) []graph.Node[resource.Node] {
		top := h.optional("c", "b", "")
		inner := top.Payload.Render
		top.Payload.Render = func(ctx context.Context, in resource.Inputs) (resource.Rendered, error) {
			if in.Object("b") != nil {
				return resource.Rendered{Object: top.Payload.Template}, nil
			}
			return inner(ctx, in)
		}
		return []graph.Node[resource.Node]{h.configMap("a", value), h.optional("b", "a", ""), func() graph.Node[resource.Node] {
			top.Payload.Template.SetFinalizers([]string{"example.com/slow"})
			return top
		}()}
	}
	o.want(nodes("yes")...)
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	o.want(nodes("no")...)
	g.Eventually(func() bool { u := h.get(configMaps, "c"); return u != nil && u.GetDeletionTimestamp() != nil }, patience, glance).Should(BeTrue())
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready b=Excluded c=Excluded"))
	g.Expect(h.get(configMaps, "b").GetDeletionTimestamp()).To(BeNil(), "what c needs goes when c is really gone")
	g.Eventually(func() int { o.mu.Lock(); defer o.mu.Unlock(); return len(o.report.left) }, patience, glance).Should(Equal(2))
	h.patch(configMaps, "c", "{metadata: {finalizers: null}}")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(o.names(configMaps)).To(Equal([]string{"a"}))
}

func TestANodeThatFailsToRenderKeepsItsObject(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "yes"), h.optional("b", "a", ""))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	broken := h.optional("b", "a", "")
	broken.Payload.Render = func(context.Context, resource.Inputs) (resource.Rendered, error) {
		return resource.Rendered{Excluded: true}, &resource.InvalidError{Reason: "Broken", Message: "no"}
	}
	o.want(h.configMap("a", "yes"), broken)
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready b=Error"))
	g.Expect(h.get(configMaps, "b")).NotTo(BeNil())
	broken.Payload.Render = func(context.Context, resource.Inputs) (resource.Rendered, error) {
		return resource.Rendered{}, &resource.WaitError{Message: "waits"}
	}
	o.want(h.configMap("a", "yes"), broken)
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready b=InProgress"))
	g.Expect(h.get(configMaps, "b")).NotTo(BeNil())
}
