package executor

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

const slow = ", finalizers: [example.com/slow]"

func (h *host) slowMap(name string, needs ...string) graph.Node[resource.Node] {
	return h.node("{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+slow+"}}", needs...)
}

func TestTeardownIsTheReverseAndWaitsForWhatIsReallyGone(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.slowMap("b", "a"), h.configMap("c", "v", "b"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	h.traffic.take()
	o.delete()
	g.Eventually(func() string { return o.takenDown().Message }, patience, glance).Should(ContainSubstring("example.com/slow"))
	g.Expect(o.names(configMaps)).To(Equal([]string{"a", "b"}))
	g.Expect(o.takenDown().Total).To(Equal(3))
	g.Expect(o.active()).To(Equal(1), "the inventory is released last")
	h.restart()
	g.Eventually(func() string { return o.takenDown().Message }, patience, glance).Should(ContainSubstring("example.com/slow"))
	h.patch(configMaps, "b", "{metadata: {finalizers: null}}")
	g.Eventually(o.gone, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take("delete configmaps")).To(Equal([]string{"delete configmaps/c", "delete configmaps/b", "delete configmaps/a"}))
	g.Expect(o.names(configMaps)).To(BeEmpty())
	g.Expect(o.plans()).To(BeEmpty())
}

func TestTeardownCostsTwoRequestsPerObject(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"), h.configMap("c", "v", "b"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	h.traffic.take()
	o.delete()
	g.Eventually(o.gone, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take("configmaps")).To(HaveLen(6))
}

func TestALabelThatIsTakenOffHidesNoObjectFromATeardown(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.slowMap("b", "a"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	o.delete()
	g.Eventually(func() []Object { return o.takenDown().Left }, patience, glance).Should(HaveLen(2))
	h.patch(configMaps, "b", "{metadata: {labels: null}}")
	g.Eventually(func() string { return strings.Join(h.traffic.look("get configmaps/b"), " ") }, patience, glance).ShouldNot(BeEmpty())
	h.patch(configMaps, "b", "{metadata: {finalizers: null}}")
	g.Eventually(func() bool { h.skip(kindRetryMax); return o.gone() }, patience, "50ms").Should(BeTrue())
	g.Expect(h.get(configMaps, "a")).To(BeNil())
}

func TestTheNewestPlanThatKnowsBothDecidesTheOrder(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"), h.configMap("old", "v", "b"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	o.want(h.service("s"), h.configMap("b", "v"), h.configMap("a", "v", "b"), h.configMap("held", "v", "s"))
	g.Eventually(o.states, patience, glance).Should(Equal("s=InProgress b=Ready a=Ready held=Blocked"))
	g.Expect(o.active()).To(Equal(2))
	h.traffic.take()
	o.delete()
	g.Eventually(o.gone, patience, glance).Should(BeTrue())
	order := strings.Join(h.traffic.take("delete configmaps"), " ")
	g.Expect(strings.Index(order, "/a")).To(BeNumerically("<", strings.Index(order, "/b")), "the newest plan says that a needs b")
	g.Expect(strings.Index(order, "/old")).To(BeNumerically("<", strings.Index(order, "/b")), "only the older one knows that old needs b")
	g.Expect(o.plans()).To(BeEmpty())
}

// serve makes a CRD and waits until it is served.
func (h *host) serve(plural, kind string) string {
	h.t.Helper()
	h.must(plane.Apply(h.ctx, []byte(strings.ReplaceAll(strings.ReplaceAll(lateCRD, "NAME", plural), "KIND", kind))))
	h.t.Cleanup(func() {
		_ = h.others.Resource(crds).Delete(context.Background(), plural+".late.example.com", metav1.DeleteOptions{})
	})
	return plural + ".late.example.com"
}

// unserve deletes a CRD and waits until it is gone.
func (h *host) unserve(name string) {
	h.t.Helper()
	h.must(h.others.Resource(crds).Delete(h.ctx, name, metav1.DeleteOptions{}))
	NewWithT(h.t).Eventually(func() bool {
		_, err := h.others.Resource(crds).Get(h.ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, patience, glance).Should(BeTrue())
}

func TestTeardownNeedsNoCRD(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	crd := h.serve("torns", "Torn")
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.node("{apiVersion: late.example.com/v1, kind: Torn, metadata: {name: t}}", "a"), h.configMap("c", "v", "t"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	h.unserve(crd)
	g.Eventually(o.states, patience, glance).Should(Equal("a=Ready t=InProgress c=Blocked"), "a kind that went is waited for, and nothing is deleted for it")
	g.Expect(o.names(configMaps)).To(Equal([]string{"a", "c"}))
	h.stop()
	h.start()
	o.delete()
	g.Eventually(o.gone, patience, glance).Should(BeTrue())
	g.Expect(o.names(configMaps)).To(BeEmpty())
}

func TestATerminatingNamespaceIsNotHeldUp(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.slowMap("b", "a"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	h.must(h.others.Resource(namespaces).Delete(h.ctx, h.namespace, metav1.DeleteOptions{}))
	t.Cleanup(func() { h.release("b") })
	o.delete()
	g.Eventually(o.gone, patience, glance).Should(BeTrue(), "Kubernetes deletes the rest, in no order")
	g.Expect(h.get(configMaps, "b")).NotTo(BeNil())
	g.Expect(o.active()).To(BeZero(), "no finalizer of ours holds the namespace up")
}

func (h *host) release(name string) {
	_, _ = h.in(configMaps).Patch(context.Background(), name, "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
}

var clusterRoleEdit = `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: edit},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}, subjects: [{kind: ServiceAccount, name: deployer, namespace: NAMESPACE}]}`

// grant lets the account "deployer" of the namespace edit it.
func (h *host) grant() {
	h.t.Helper()
	h.create(strings.ReplaceAll(clusterRoleEdit, "NAMESPACE", h.namespace))
}

func TestRightsThatAreGoneHoldUpATeardownUntilTheyAreBack(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	h.grant()
	o := h.owner("o")
	o.object.ServiceAccount = "deployer"
	o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"))
	g.Eventually(func() bool { h.kick(configMaps); return o.settled() }, patience, glance).Should(BeTrue())
	h.delete(roles, "edit")
	g.Eventually(func() error {
		c, err := h.cluster.Client(accountOf(&o.object))
		h.must(err)
		_, err = c.Dynamic.Resource(configMaps).Namespace(h.namespace).Get(h.ctx, "a", metav1.GetOptions{})
		return err
	}, patience, glance).Should(HaveOccurred())
	o.delete()
	g.Eventually(func() string { return o.takenDown().Reason }, patience, glance).Should(Equal(ReasonTeardownForbidden))
	rep := o.takenDown()
	g.Expect(rep.Failed).To(BeTrue())
	g.Expect(rep.Message).To(ContainSubstring(`cannot get resource "configmaps"`), "the missing rule is named")
	h.grant()
	g.Eventually(func() bool { h.skip(slowRetryMax); return o.gone() }, patience, "50ms").Should(BeTrue())
	g.Expect(o.names(configMaps)).To(BeEmpty())
}

// kick lets the watches of a resource retry at once, as an event of RBAC would
// if there were one.
func (h *host) kick(gvr schema.GroupVersionResource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.x.observer.Kick(gvr)
}

func TestAWatchThatIsForbiddenSaysSoAndRecovers(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.object.ServiceAccount = "deployer"
	o.want(h.configMap("a", "v"))
	g.Eventually(o.reason("a"), patience, glance).Should(Equal(ReasonWatchForbidden))
	g.Expect(o.status("a").Message).To(And(ContainSubstring("system:serviceaccount:"+h.namespace+":deployer"), ContainSubstring(`resources: ["configmaps"]`)))
	g.Expect(h.get(configMaps, "a")).To(BeNil(), "nothing is written that cannot be followed")
	h.grant()
	g.Eventually(func() bool { h.kick(configMaps); return o.settled() }, patience, glance).Should(BeTrue())
}

func TestATeardownOfNothingIsDoneAtOnce(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.delete()
	g.Eventually(o.gone, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take(writes...)).To(BeEmpty())
}
