package executor

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
)

// plans lists the owner's records, newest first.
func (o *owner) plans() []inventory.Ref {
	o.h.t.Helper()
	client, err := o.h.cluster.Client(accountOf(&resource.Owner{}))
	o.h.must(err)
	refs, err := inventory.NewRecords(client.Dynamic, o.h.namespace).List(o.h.ctx, &o.object)
	o.h.must(err)
	return refs
}

// active is how many of them are.
func (o *owner) active() int {
	n := 0
	for _, ref := range o.plans() {
		if ref.Active {
			n++
		}
	}
	return n
}

func TestInventoryIsStoredBeforeTheFirstChildAndHoldsThePlan(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.configMap("a", "v"), h.configMap("b", "v", "a"))
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take(writes...)[0]).To(Equal("create controllerrevisions"))
	refs := o.plans()
	g.Expect(refs).To(HaveLen(1))
	g.Expect(refs[0].Active).To(BeTrue())
	client, err := h.cluster.Client(accountOf(&resource.Owner{}))
	g.Expect(err).NotTo(HaveOccurred())
	plan, err := inventory.NewRecords(client.Dynamic, h.namespace).Read(h.ctx, refs[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plan.Entries).To(HaveLen(2))
	b := plan.Entries[1]
	g.Expect(b.Identity).To(Equal(resource.Identity{Kind: "ConfigMap", Namespace: h.namespace, Name: "b"}))
	g.Expect(b.Resource).To(Equal("configmaps"))
	g.Expect(b.Needs).To(Equal([]int32{0}))
	g.Expect(b.Depth).To(BeEquivalentTo(1))
}

func TestAChangeOfValuesOnlyCostsNoRecord(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	for i := range 3 {
		o.want(h.configMap("a", fmt.Sprint(i)))
		g.Eventually(o.settled, patience, glance).Should(BeTrue())
	}
	g.Expect(h.traffic.take("controllerrevisions")).To(Equal([]string{"create controllerrevisions"}))
}

func TestTheLastFiveRecordsAreKeptAndServeARollback(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	node := func(i int) graph.Node[resource.Node] { return h.configMap(fmt.Sprintf("c%d", i), "v") }
	for i := range 8 {
		o.want(node(i))
		g.Eventually(o.settled, patience, glance).Should(BeTrue())
		g.Eventually(o.active, patience, glance).Should(Equal(1), "the older ones are history, without finalizer")
	}
	g.Expect(o.plans()).To(HaveLen(keptRecords))
	for _, i := range []int{5, 0, 5} { // one that is kept, one that is not
		o.want(node(i))
		g.Eventually(o.settled, patience, glance).Should(BeTrue())
		g.Eventually(o.active, patience, glance).Should(Equal(1))
		g.Expect(o.names(configMaps)).To(Equal([]string{fmt.Sprintf("c%d", i)}))
		refs := o.plans()
		newest := slices.MaxFunc(refs, inventory.Ref.Compare)
		g.Expect(newest.Active).To(BeTrue(), "a plan that is used again is the newest")
		g.Expect(len(refs)).To(BeNumerically("<=", keptRecords))
	}
	h.restart()
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(o.names(configMaps)).To(Equal([]string{"c5"}))
}

const lateCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAME.late.example.com}
spec:
  group: late.example.com
  scope: Namespaced
  names: {plural: NAME, singular: NAME, kind: KIND, listKind: KINDList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// anywhere lets an owner write everywhere.
type anywhere struct{}

func (anywhere) Check(*resource.Owner, resource.Identity, *meta.RESTMapping) *writer.Failure {
	return nil
}

func TestRecordsOfOwnersWithoutANamespaceAreFoundAgain(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t, func(o *Options) { o.Scope = anywhere{} })
	o := h.owner("o")
	ns, err := h.others.Resource(namespaces).Get(h.ctx, h.namespace, getOptions)
	g.Expect(err).NotTo(HaveOccurred())
	h.mu.Lock()
	delete(h.owners, o.object.Key())
	o.object.Kind, o.object.Resource = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "namespaces"
	o.object.UID, o.object.Namespace, o.object.Name = ns.GetUID(), "", h.namespace
	h.owners[o.object.Key()] = o
	h.mu.Unlock()
	o.want(h.configMap("a", "v"), h.configMap("b", "v"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	h.restart()
	o.want(h.configMap("a", "v"))
	g.Eventually(o.settled, patience, glance).Should(BeTrue())
	g.Expect(o.names(configMaps)).To(Equal([]string{"a"}), "what left the graph before the restart is pruned")
	o.delete()
	g.Eventually(o.gone, patience, glance).Should(BeTrue())
	g.Expect(o.names(configMaps)).To(BeEmpty())
	g.Expect(o.plans()).To(BeEmpty())
}
