package observer

import (
	"context"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/cluster"
)

// kindLog collects what Kinds tells of.
type kindLog struct {
	mu   sync.Mutex
	seen map[schema.GroupKind]int
}

func (l *kindLog) add(gk schema.GroupKind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[schema.GroupKind]int{}
	}
	l.seen[gk]++
}

func (l *kindLog) count(gk schema.GroupKind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[gk]
}

func (w *world) kinds(l *kindLog) *Kinds {
	w.t.Helper()
	obs := New(w.cluster, Options{})
	k := NewKinds(obs, l.add)
	w.start(obs)
	NewWithT(w.t).Eventually(synced(k.crds), "10s").Should(BeTrue())
	return k
}

func crdText(group, kind, plural, scope, annotations string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ` + plural + `.` + group + `, annotations: {` + annotations + `}},
 spec: {group: ` + group + `, scope: ` + scope + `, names: {plural: ` + plural + `, kind: ` + kind + `, singular: ` + plural + `x, listKind: ` + kind + `List},
 versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`
}

func TestKindsKnowBuiltInKinds(t *testing.T) {
	g := NewWithT(t)
	k := newWorld(t).kinds(&kindLog{})
	cases := map[string]struct {
		kind    schema.GroupKind
		version string
		scope   meta.RESTScopeName
		reason  string
	}{
		"core":    {schema.GroupKind{Kind: "ConfigMap"}, "v1", meta.RESTScopeNameNamespace, "the core group has no CRDs"},
		"apps":    {schema.GroupKind{Group: "apps", Kind: "Deployment"}, "v1", meta.RESTScopeNameNamespace, "a group without a dot has none either"},
		"k8s.io":  {schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, "v1", meta.RESTScopeNameRoot, "there is no CRD of that name"},
		"version": {schema.GroupKind{Group: "batch", Kind: "Job"}, "", meta.RESTScopeNameNamespace, "any served version"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			info, err := k.Rules(t.Context(), c.kind, c.version)
			if err != nil || !info.Builtin || !info.Established || info.Rules == nil || info.Scope() != c.scope {
				t.Errorf("%s: %+v, %v", c.reason, info, err)
			}
		})
	}
	_, err := k.Rules(t.Context(), schema.GroupKind{Group: "apps", Kind: "Nothing"}, "v1")
	g.Expect(meta.IsNoMatchError(err)).To(BeTrue(), "a kind that is not served")
}

func TestKindsFollowACRD(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	told := &kindLog{}
	k := w.kinds(told)
	gk := schema.GroupKind{Group: "follow.example.com", Kind: "Followed"}
	crds := w.client.Dynamic.Resource(crdResource)
	const name = "followeds.follow.example.com"

	_, err := k.Rules(w.ctx, gk, "v1")
	g.Expect(meta.IsNoMatchError(err)).To(BeTrue())
	w.installCRD(crdText(gk.Group, gk.Kind, "followeds", "Namespaced", `smith.atlassian.com/SupportEnabled: "true"`))
	g.Eventually(func() int { return told.count(gk) }, "10s", "10ms").Should(BeNumerically(">", 0), "who waits for the kind is woken")
	info, err := k.Rules(w.ctx, gk, "v1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Builtin).To(BeFalse())
	g.Expect(info.Established).To(BeTrue())
	g.Expect(info.Rules.SupportEnabled).To(BeTrue())
	g.Expect(info.Rules.HasStatusSubresource).To(BeTrue())
	g.Expect(info.Scope()).To(Equal(meta.RESTScopeNameNamespace))

	before := told.count(gk)
	_, err = crds.Patch(w.ctx, name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"smith.atlassian.com/SupportEnabled":"false"}}}`), metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() int { return told.count(gk) }, "10s", "10ms").Should(BeNumerically(">", before), "a rule changed")
	info, err = k.Rules(w.ctx, gk, "v1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Rules.SupportEnabled).To(BeFalse())

	g.Expect(crds.Delete(w.ctx, name, metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(func() bool { _, err := k.Rules(w.ctx, gk, "v1"); return meta.IsNoMatchError(err) }, "20s", "50ms").Should(BeTrue())
	g.Eventually(func() error {
		_, err := crds.Create(w.ctx, parse(t, crdText(gk.Group, gk.Kind, "followeds", "Cluster", "")), metav1.CreateOptions{})
		return err
	}, "10s", "50ms").Should(Succeed())
	g.Eventually(func() meta.RESTScopeName {
		info, err := k.Rules(w.ctx, gk, "v1")
		if err != nil {
			return ""
		}
		return info.Scope()
	}, "20s", "50ms").Should(Equal(meta.RESTScopeNameRoot), "created again with another scope")
}

func TestStatusOfACRDWakesNobody(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	gk := schema.GroupKind{Group: "quiet.example.com", Kind: "Quiet"}
	w.installCRD(crdText(gk.Group, gk.Kind, "quiets", "Namespaced", ""))
	told := &kindLog{}
	k := w.kinds(told)
	_, err := k.Rules(w.ctx, gk, "v1")
	g.Expect(err).NotTo(HaveOccurred())
	before := told.count(gk)
	_, err = w.client.Dynamic.Resource(crdResource).Patch(w.ctx, "quiets.quiet.example.com", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Consistently(func() int { return told.count(gk) }, "300ms").Should(Equal(before), "a label is no rule")
}

func TestBrokenAPIServiceDoesNotHoldUpOtherGroups(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.create("", `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.broken.example.com},
	  spec: {group: broken.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
	  service: {name: nobody, namespace: `+w.namespace+`}}}`)
	t.Cleanup(func() {
		_ = w.client.Dynamic.Resource(apiServiceResource).Delete(context.Background(), "v1.broken.example.com", metav1.DeleteOptions{})
	})
	fresh, err := cluster.New(plane.AdminConfig(), cluster.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	defer fresh.Close()
	_, err = fresh.Mapping(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "v1")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = fresh.Mapping(schema.GroupKind{Group: "broken.example.com", Kind: "X"}, "v1")
	g.Expect(err).To(HaveOccurred())
}
