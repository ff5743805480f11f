package observer

import (
	"fmt"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/cluster"
)

// log collects events.
type log struct {
	mu     sync.Mutex
	events []Event
}

func (l *log) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *log) lines(k Key) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []string{}
	for _, e := range l.events {
		if e.Key == k && !e.Synced {
			s := describe(e)
			out = append(out, s[:len(s)-len(suffix(e))])
		}
	}
	return out
}

// suffix is the version, which differs from run to run.
func suffix(e Event) string {
	if e.Deleted {
		return ""
	}
	return "@" + e.Object.GetResourceVersion()
}

func synced(s *Store) func() (bool, error) {
	return s.Status
}

func presenceOf(s *Store, namespace, name string) func() Presence {
	return func() Presence {
		_, p := s.Get(namespace, name)
		return p
	}
}

func configMap(name string, labels string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {%s}}, data: {k: v}}`, name, labels)
}

func TestRemovingTheLabelLooksLikeADeletion(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	seen := &log{}
	obs := w.run(Options{Handler: seen.add})
	k := Key{Resource: configMaps, Namespace: w.namespace, Selector: "truss.dev/manager=core"}
	s := obs.Acquire(k)
	g.Eventually(synced(s), "10s").Should(BeTrue())

	s.Observe(w.create(w.namespace, configMap("a", "truss.dev/manager: core")))
	g.Expect(presenceOf(s, w.namespace, "a")()).To(Equal(Present), "our own write is seen at once")
	item, _ := s.Get(w.namespace, "a")
	g.Expect(item.Fields.Owns(parse(t, configMap("a", "truss.dev/manager: core")).Object)).To(BeEmpty())

	cms := w.client.Dynamic.Resource(configMaps).Namespace(w.namespace)
	_, err := cms.Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"truss.dev/manager":null}}}`), metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(presenceOf(s, w.namespace, "a"), "10s", "10ms").Should(Equal(Absent))
	_, err = cms.Get(w.ctx, "a", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred(), "absent from the store proves nothing")
	g.Eventually(func() []string { return seen.lines(k) }, "10s", "10ms").Should(ContainElement("-a"))
}

func TestEventsCarryNewStateAndDeletion(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	seen := &log{}
	obs := w.run(Options{Handler: seen.add})
	whole := Key{Resource: configMaps, Namespace: w.namespace, Field: "metadata.name=a"}
	meta := Key{Resource: configMaps, Namespace: w.namespace, Field: "metadata.name=a", MetadataOnly: true}
	_, err := w.cluster.Mapping(schema.GroupKind{Kind: "ConfigMap"}, "v1")
	g.Expect(err).NotTo(HaveOccurred())
	s, m := obs.Acquire(whole), obs.Acquire(meta)
	g.Eventually(synced(s), "10s").Should(BeTrue())
	g.Eventually(synced(m), "10s").Should(BeTrue())

	w.create(w.namespace, configMap("a", ""))
	w.create(w.namespace, configMap("b", ""))
	g.Eventually(presenceOf(s, w.namespace, "a"), "10s", "10ms").Should(Equal(Present))
	g.Eventually(presenceOf(m, w.namespace, "a"), "10s", "10ms").Should(Equal(Present))
	item, _ := m.Get(w.namespace, "a")
	g.Expect(item.Object.GroupVersionKind()).To(Equal(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}), "the kind is that of the object")
	g.Expect(item.Object.Object).NotTo(HaveKey("data"))
	item, _ = s.Get(w.namespace, "a")
	g.Expect(item.Object.GetManagedFields()).To(BeNil())
	g.Expect(item.Fields.Entries()).To(HaveLen(1))

	g.Expect(w.client.Dynamic.Resource(configMaps).Namespace(w.namespace).Delete(w.ctx, "a", metav1.DeleteOptions{})).To(Succeed())
	for _, k := range []Key{whole, meta} {
		g.Eventually(func() []string { return seen.lines(k) }, "10s", "10ms").Should(Equal([]string{"+a", "-a"}), "b is not watched")
	}
}

const laterCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: laters.later.example.com},
 spec: {group: later.example.com, scope: Namespaced, names: {plural: laters, singular: later, kind: Later, listKind: LaterList},
 versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`

func TestStoreFollowsACRDThatComesAndGoes(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	seen := &log{}
	obs := New(w.cluster, Options{Handler: seen.add})
	NewKinds(obs, nil) // kicks the stores on CRD events
	w.start(obs)

	later := schema.GroupVersionResource{Group: "later.example.com", Version: "v1", Resource: "laters"}
	s := obs.Acquire(Key{Resource: later, Namespace: w.namespace})
	g.Eventually(func() Reason { _, err := s.Status(); return ReasonOf(err) }, "10s").Should(Equal(NoSuchResource))
	g.Expect(presenceOf(s, w.namespace, "x")()).To(Equal(Unknown), "not served is not empty")

	crd := parse(t, laterCRD)
	_, err := w.client.Dynamic.Resource(crdResource).Create(w.ctx, crd, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	started := time.Now()
	g.Eventually(synced(s), "20s", "10ms").Should(BeTrue())
	t.Logf("synced %s after the CRD was created", time.Since(started).Round(time.Millisecond))
	w.waitServed(crd.GetName())
	s.Observe(w.create(w.namespace, `{apiVersion: later.example.com/v1, kind: Later, metadata: {name: x}}`))
	g.Expect(presenceOf(s, w.namespace, "x")()).To(Equal(Present))

	g.Expect(w.client.Dynamic.Resource(crdResource).Delete(w.ctx, crd.GetName(), metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(func() Reason { _, err := s.Status(); return ReasonOf(err) }, "20s").Should(Equal(NoSuchResource))
	g.Expect(s.Status()).Error().To(HaveOccurred())
	g.Expect(presenceOf(s, w.namespace, "never-there")()).To(Equal(Unknown), "a store that lost its resource is not synced and empty")
}

// serviceAccount makes an account with a Role in its namespace.
func (w *world) serviceAccount(name, rules string) cluster.Account {
	w.t.Helper()
	w.create(w.namespace, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: `+name+`}}`)
	if rules != "" {
		w.create(w.namespace, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: `+name+`}, rules: [`+rules+`]}`)
		w.create(w.namespace, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: `+name+`},
		  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: `+name+`}, subjects: [{kind: ServiceAccount, name: `+name+`, namespace: `+w.namespace+`}]}`)
	}
	return cluster.Account{Namespace: w.namespace, ServiceAccount: name}
}

const readConfigMaps = `{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}`

func TestImpersonatedWatchSeesOnlyItsNamespace(t *testing.T) {
	g := NewWithT(t)
	w, other := newWorld(t), newWorld(t)
	account := w.serviceAccount("reader", readConfigMaps)
	w.create(w.namespace, configMap("mine", ""))
	other.create(other.namespace, configMap("theirs", ""))
	obs := w.run(Options{})

	own := obs.Acquire(Key{Account: account, Resource: configMaps, Namespace: w.namespace})
	foreign := obs.Acquire(Key{Account: account, Resource: configMaps, Namespace: other.namespace})
	all := obs.Acquire(Key{Account: account, Resource: configMaps})
	g.Eventually(synced(own), "10s").Should(BeTrue())
	g.Eventually(presenceOf(own, w.namespace, "mine"), "10s").Should(Equal(Present))
	for _, s := range []*Store{foreign, all} {
		g.Eventually(func() Reason { _, err := s.Status(); return ReasonOf(err) }, "10s").Should(Equal(WatchForbidden))
		g.Expect(s.Len()).To(BeZero())
		g.Expect(presenceOf(s, other.namespace, "theirs")()).To(Equal(Unknown))
	}
	_, err := foreign.Status()
	g.Expect(err.Error()).To(ContainSubstring("as " + w.namespace + "/reader"))
}

func TestForbiddenWatchRecoversWhenTheRightIsGiven(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	account := w.serviceAccount("late", "")
	seen := &log{}
	obs := w.run(Options{Handler: seen.add})
	s := obs.Acquire(Key{Account: account, Resource: configMaps, Namespace: w.namespace})
	g.Eventually(func() Reason { _, err := s.Status(); return ReasonOf(err) }, "10s").Should(Equal(WatchForbidden))

	w.create(w.namespace, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: late},
	  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{kind: ServiceAccount, name: late, namespace: `+w.namespace+`}]}`)
	g.Eventually(func() (bool, error) {
		obs.Kick(configMaps)
		return s.Status()
	}, "10s", "50ms").Should(BeTrue())
}

func TestFiftyStoresSyncFast(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	obs := w.run(Options{})
	started := time.Now()
	stores := make([]*Store, 50)
	for i := range stores {
		stores[i] = obs.Acquire(Key{Resource: configMaps, Namespace: w.namespace, Field: fmt.Sprintf("metadata.name=n%d", i), MetadataOnly: i%2 == 0})
	}
	for _, s := range stores {
		g.Eventually(synced(s), "10s", "5ms").Should(BeTrue())
	}
	t.Logf("50 stores synced in %s", time.Since(started).Round(time.Millisecond))
}

func TestBookmarksAndStreamedListsAreUsed(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.create(w.namespace, configMap("a", ""))
	requests := &recorder{}
	cfg := plane.AdminConfig()
	cfg.Wrap(requests.wrap)
	c, err := cluster.New(cfg, cluster.Options{Version: "test"})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(c.Close)
	recorded := w.in(t)
	recorded.cluster = c
	s := recorded.run(Options{}).Acquire(Key{Resource: configMaps, Namespace: w.namespace})
	g.Eventually(synced(s), "10s").Should(BeTrue())
	g.Expect(s.Len()).To(BeNumerically(">=", 1))
	queries := requests.queries()
	g.Expect(queries).To(HaveLen(1), "one request lists and watches")
	g.Expect(queries[0].Get("watch")).To(Equal("true"))
	g.Expect(queries[0].Get("sendInitialEvents")).To(Equal("true"))
	g.Expect(queries[0].Get("allowWatchBookmarks")).To(Equal("true"))
	s.mu.RLock()
	defer s.mu.RUnlock()
	g.Expect(s.progress).NotTo(BeEmpty())
}
