package executor

import (
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

const early = ", annotations: {truss.dev/prune: early}"

func TestPruneOnlyWhenReadyAndInReverse(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"), h.configMap("c", "v", "b"),
		h.node("{apiVersion: v1, kind: ConfigMap, metadata: {name: e"+early+"}}"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	o.want(h.service("s"))
	g.Eventually(func() []string { return o.names(configMaps) }, patience, glance).Should(Equal([]string{"a", "b", "c"}), "only what asks to go early goes")
	g.Eventually(o.states, patience, glance).Should(Equal("s=InProgress"))
	h.traffic.take()
	h.address("s", "10.0.0.1")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take("delete configmaps")).To(Equal([]string{"delete configmaps/c", "delete configmaps/b", "delete configmaps/a"}))
	g.Expect(o.names(configMaps)).To(BeEmpty())
}

func TestNothingIsPrunedWhileANodeFails(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	o.want(h.node("{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {k: {}}}"), h.configMap("b", "v"))
	g.Eventually(o.states, patience, glance).Should(Equal("bad=Error b=Ready"))
	g.Expect(o.names(configMaps)).To(Equal([]string{"a", "b"}))
	g.Expect(o.active()).To(Equal(2), "both plans list objects")
	h.restart()
	g.Eventually(o.states, patience, glance).Should(Equal("bad=Error b=Ready"))
	o.want(h.configMap("b", "v"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(o.names(configMaps)).To(Equal([]string{"b"}))
	g.Eventually(o.active, patience, glance).Should(Equal(1))
}

func TestWhatCouldNotBePrunedStaysRecorded(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.node("{apiVersion: v1, kind: ConfigMap, metadata: {name: b, finalizers: [example.com/slow]}}"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	o.want(h.configMap("a", "v"))
	g.Eventually(func() bool { u := h.get(configMaps, "b"); return u != nil && u.GetDeletionTimestamp() != nil }, patience, glance).Should(BeTrue())
	h.restart()
	g.Eventually(func() []Object { o.mu.Lock(); defer o.mu.Unlock(); return o.report.left }, patience, glance).Should(HaveLen(1))
	h.patch(configMaps, "b", "{metadata: {finalizers: null}}")
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Eventually(o.active, patience, glance).Should(Equal(1))
}

func TestSupersedingStopsAPrune(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t, func(o *Options) { o.OwnerWrites = 1 })
	o := h.owner("o")
	both := []string{"a", "b"}
	want := func(names ...string) {
		nodes := o.nodes[:0:0]
		for _, name := range names {
			nodes = append(nodes, h.configMap(name, "v"))
		}
		o.want(nodes...)
	}
	want(both...)
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	before := h.get(configMaps, "b").GetUID()
	var once sync.Once
	h.traffic.hold(func(line string) {
		if strings.HasPrefix(line, "delete configmaps") {
			once.Do(func() { want(both...) })
		}
	})
	want()
	g.Eventually(func() bool { return o.settled() && len(o.names(configMaps)) == 2 }, patience, glance).Should(BeTrue())
	g.Expect(h.get(configMaps, "b").GetUID()).To(Equal(before), "the newest generation wants it, so it is not deleted any more")
}

func TestAMovedNameIsNoPrune(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	before := h.get(configMaps, "a").GetUID()
	renamed := h.configMap("a", "v")
	renamed.ID = "another-id"
	o.want(renamed, h.configMap("b", "v", "another-id"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.get(configMaps, "a").GetUID()).To(Equal(before), "objects are known by identity, not by the name of their node")
}

func TestAnObjectThatAsksForADelayIsPrunedLater(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.node("{apiVersion: v1, kind: ConfigMap, metadata: {name: b, annotations: {smith.atlassian.com/deletionDelay: 2s}}}"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	o.want(h.configMap("a", "v"))
	g.Eventually(func() string { return h.get(configMaps, "b").GetAnnotations()["smith.atlassian.com/deletionTimestamp"] }, patience, glance).ShouldNot(BeEmpty())
	g.Expect(o.settled()).To(BeFalse())
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(h.get(configMaps, "b")).To(BeNil())
}
