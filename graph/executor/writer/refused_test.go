package writer

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/cluster"
)

// refused checks the class and reason of a failure.
func refused(t *testing.T, f *Failure, class Class, reason string) {
	t.Helper()
	if f == nil || f.Class != class || f.Reason != reason {
		t.Fatalf("failure %d %s (%v), want %d %s", f.classOrNone(), reasonOf(f), f, class, reason)
	}
}

func (f *Failure) classOrNone() Class {
	if f == nil {
		return 255
	}
	return f.Class
}

func TestTooLargeIsTerminal(t *testing.T) {
	w := newWorld(t)
	for name, size := range map[string]int{"etcd": 1_600_000, "grpc": 2_900_000, "body": 3_200_000} {
		t.Run(name, func(t *testing.T) {
			c := w.in(t).child("{apiVersion: writer.example.com/v1, kind: Thing, metadata: {name: " + name + "}, spec: {x: ''}}")
			c.desired.Object["spec"] = map[string]any{"x": strings.Repeat("x", size)}
			_, f, requests := c.ensure()
			refused(t, f, Terminal, ReasonTooLarge)
			expect(t, "not tried again", requests, "create")
			if !strings.Contains(f.Message, "split it") {
				t.Errorf("message %q lacks a remedy", f.Message)
			}
		})
	}
}

func TestNamespaceTerminatingWaits(t *testing.T) {
	w := newWorld(t)
	holder := w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: holder, finalizers: [example.com/slow]}}")
	holder.ensured()
	namespaces := w.others.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	w.must(namespaces.Delete(w.ctx, w.namespace, metav1.DeleteOptions{}))
	t.Cleanup(func() {
		_, _ = w.others.Resource(configMaps).Namespace(w.namespace).Patch(context.Background(), "holder",
			types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	})
	_, f, _ := w.child(configMap("{k: v}")).ensure()
	refused(t, f, Waiting, ReasonNamespaceTerminating)
}

func TestAMissingNamespaceWaits(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.id.Namespace, c.owner.Namespace = "not-there", "not-there"
	_, f, _ := c.ensure()
	refused(t, f, Waiting, ReasonNamespaceMissing)
}

// dryRun tries to create an object as somebody else, without doing it.
func (w *world) dryRun(name string) error {
	_, err := w.others.Resource(configMaps).Namespace(w.namespace).Create(w.ctx,
		parse(w.t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", labels: {refuse: me}}}"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func TestQuotaIsDenied(t *testing.T) {
	w := newWorld(t)
	w.post("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {count/configmaps: '0'}}}")
	NewWithT(t).Eventually(func() error { return w.dryRun("probe") }, "20s", "20ms").Should(MatchError(ContainSubstring("exceeded quota")))
	_, f, _ := w.child(configMap("{k: v}")).ensure()
	refused(t, f, Denied, ReasonQuotaExceeded)
}

const denyingPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "!has(object.metadata.labels) || !('refuse' in object.metadata.labels)", message: not like this}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec:
  policyName: NAME
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}}
`

func TestAPolicyDeniesUntilItAllows(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.must(plane.Apply(t.Context(), []byte(strings.ReplaceAll(denyingPolicy, "NAME", w.namespace))))
	bindings := w.others.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"})
	t.Cleanup(func() { _ = bindings.Delete(context.Background(), w.namespace, metav1.DeleteOptions{}) })
	g.Eventually(func() error { return w.dryRun("probe") }, "20s", "20ms").Should(MatchError(ContainSubstring("not like this")))
	c := w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {refuse: me}}}")
	_, f, _ := c.ensure()
	refused(t, f, Denied, ReasonAdmissionDenied)
	g.Expect(f.Message).To(ContainSubstring("not like this"))
	w.must(bindings.Delete(w.ctx, w.namespace, metav1.DeleteOptions{}))
	g.Eventually(func() string { _, f, _ := c.ensure(); return reasonOf(f) }, "20s", "20ms").Should(BeEmpty())
}

func TestScopeComesFromTheMapper(t *testing.T) {
	w := newWorld(t)
	c := w.child("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a, namespace: " + w.namespace + "}}")
	_, f, requests := c.ensure()
	refused(t, f, Terminal, ReasonClusterScoped)
	expect(t, "metadata.namespace does not make a kind namespaced", requests, "")
}

const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]}"

func TestRBACGroupIsRefusedWithoutImpersonation(t *testing.T) {
	w := newWorld(t)
	c := w.child(role)
	_, f, requests := c.ensure()
	refused(t, f, Terminal, ReasonRBACRefused)
	expect(t, "nothing is tried with the manager's rights", requests, "")

	as := *w.owner
	as.ServiceAccount = "default"
	c.owner = &as
	client, err := w.cluster.Client(cluster.Account{Namespace: w.namespace, ServiceAccount: "default"})
	w.must(err)
	w.client = client
	_, f, _ = c.ensure()
	refused(t, f, Denied, ReasonForbidden)
	if !strings.Contains(f.Message, "system:serviceaccount:"+w.namespace+":default") {
		t.Errorf("message %q does not say who lacks the right", f.Message)
	}
}

func TestAnInvalidObjectIsTerminalOnEveryPath(t *testing.T) {
	w := newWorld(t)
	c := w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: 1}}")
	_, f, _ := c.ensure()
	refused(t, f, Terminal, ReasonInvalid)
	c.want(configMap("{k: v}"))
	c.ensured()
	c.want(configMap("{k: 1}"))
	_, f, _ = c.ensure()
	refused(t, f, Terminal, ReasonInvalid)
	if dataOf(c.live())["k"] != "v" {
		t.Error("the object changed")
	}
}

func TestValuesOfSecretsAreInNoFailure(t *testing.T) {
	w := newWorld(t)
	c := w.child("{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/dockerconfigjson, stringData: {.dockerconfigjson: '{hunter2'}}")
	_, f, _ := c.ensure()
	refused(t, f, Terminal, ReasonInvalid)
	if strings.Contains(f.Message, "hunter2") || strings.Contains(f.Message, "e2h1bnRlcjI=") {
		t.Errorf("message %q holds the value", f.Message)
	}
	c.want("{apiVersion: v1, kind: Secret, metadata: {name: b}, stringData: {k: v}}")
	c.id.Name = "b"
	c.ensured()
	c.want("{apiVersion: v1, kind: Secret, metadata: {name: b}, stringData: {k: 834625}}")
	_, f, _ = c.ensure()
	refused(t, f, Terminal, ReasonInvalid)
	if strings.Contains(f.Message, "834625") {
		t.Errorf("message %q holds the value", f.Message)
	}
}

func TestValuesFromSecretsAreInNoFailureAboutOtherKinds(t *testing.T) {
	w := newWorld(t)
	c := w.child("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: hunter2, ports: [{port: 80}]}}")
	for _, secret := range []bool{false, true} {
		r, err := c.request()
		w.must(err)
		r.Desired.SecretData = secret
		_, f := w.writer.Ensure(w.ctx, r)
		refused(t, f, Terminal, ReasonInvalid)
		if strings.Contains(f.Message, "hunter2") == secret || !strings.Contains(f.Message, "spec.type") {
			t.Errorf("with SecretData %t the message is %q", secret, f.Message)
		}
	}
}

func frozen(value, more string) string {
	return "{apiVersion: v1, kind: Secret, metadata: {name: a" + more + "}, immutable: true, stringData: {k: " + value + "}}"
}

func TestReplaceOnImmutable(t *testing.T) {
	const recreate = ", annotations: {truss.dev/on-immutable: recreate}"
	w := newWorld(t)
	c := w.child(frozen("v", ""))
	first, _ := c.ensured()
	c.want(frozen("w", ""))
	_, f, _ := c.ensure()
	refused(t, f, Terminal, ReasonImmutableField)
	if !strings.Contains(f.Message, "truss.dev/on-immutable") {
		t.Errorf("message %q lacks the remedy", f.Message)
	}

	c.want(frozen("w", recreate+", finalizers: [example.com/slow]"))
	_, f, requests := c.ensure()
	expect(t, "it asks to be replaced", requests, "apply delete")
	refused(t, f, Retriable, ReasonReplaced)
	second, requests := c.ensured()
	expect(t, "made anew once it is proved gone", requests, "get create")
	if first.Live.Object.GetUID() == second.Live.Object.GetUID() || !second.Created {
		t.Error("it was not replaced")
	}

	c.want(frozen("x", recreate))
	_, f, requests = c.ensure()
	expect(t, "a finalizer of others", requests, "migrate apply delete")
	refused(t, f, Waiting, ReasonTerminating)
	c.seen()
	_, f, requests = c.ensure()
	expect(t, "nothing is made before the old one is gone", requests, "")
	refused(t, f, Waiting, ReasonTerminating)
	_, err := w.others.Resource(c.gvr()).Namespace(w.namespace).
		Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	w.must(err)
	c.store.ObserveDeleted(w.namespace, "a", "", "")
	if third, requests := c.ensured(); !third.Created || requests != "get create" {
		t.Errorf("outcome %+v by %q", third, requests)
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	r, err := c.request()
	w.must(err)
	if f := w.writer.DryRun(w.ctx, r); f != nil || c.exists() {
		t.Errorf("failure %v, object there: %t", f, c.exists())
	}
	c.want("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: {}}}")
	r, err = c.request()
	w.must(err)
	refused(t, w.writer.DryRun(w.ctx, r), Terminal, ReasonInvalid)
}
