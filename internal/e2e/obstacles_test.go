package e2e

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Obstacles that lie outside a Bundle: each is named with its remedy, and what
// waited goes on by itself once it is out of the way.

func TestQuotaIsAnErrorThatPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {services: 0}}")
	w.Eventually(w.field(quotas, "few", "status", "hard", "services")).Should(Equal("0"))
	w.apply(bundleOf("bad", fine, object("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}")))
	w.failsAlone("bad", false, "quota", "QuotaExceeded", "few", "raise the quota")
	w.patch(quotas, "few", `{"spec":{"hard":{"services":"1"}}}`)
	w.ready("bad")
}

const deny = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NS}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [services]}]
  validations: [{expression: "object.metadata.name == 'allowed'", message: "no services on Fridays"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NS}
spec: {policyName: NS, validationActions: [Deny]}
`

func TestDenialByAdmissionIsAnErrorThatPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policies := v1Resource("admissionregistration.k8s.io", "validatingadmissionpolicybindings")
	w.apply(strings.ReplaceAll(deny, "NS", w.ns))
	w.Eventually(func() error {
		probe := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "probe"},
			"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}}}
		_, err := w.of(services).Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{"All"}})
		return err
	}).Should(MatchError(ContainSubstring("Fridays")), "the policy is in effect")
	w.apply(bundleOf("bad", fine, object("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}")))
	w.failsAlone("bad", false, "admission", "AdmissionDenied", "no services on Fridays", "tried again by itself")
	w.Expect(w.client.Resource(policies).Delete(t.Context(), w.ns, metav1.DeleteOptions{})).To(Succeed())
	w.ready("bad")
}

func TestARightThatIsMissingIsNamedWithTheRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(runner)
	w.apply(consent("runner"))
	w.patch(roles, "runner", `{"rules":[{"apiGroups":[""],"resources":["configmaps","secrets"],"verbs":["get","list","watch"]},
		{"apiGroups":[""],"resources":["configmaps"],"verbs":["create","patch","delete"]}]}`)
	w.apply(strings.Replace(bundleOf("bad", fine, object("{apiVersion: v1, kind: Secret, metadata: {name: a}}")), "spec:\n", "spec:\n  serviceAccountName: runner\n", 1))
	w.failsAlone("bad", false, "RBAC", "Forbidden", `cannot create resource "secrets"`, "system:serviceaccount:"+w.ns+":runner", "grant the right")
	w.patchRole("runner", "configmaps", "secrets")
	w.ready("bad")
}

func TestAnImmutableFieldIsNamedAndCanBeReplacedOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const service = `{apiVersion: v1, kind: Service, metadata: {name: a, annotations: {MORE}}, spec: {clusterIP: ADDRESS, ports: [{port: 80}]}}`
	with := func(ip, more string) string {
		return bundleOf("bad", fine, object(strings.NewReplacer("ADDRESS", ip, "MORE", more).Replace(service)))
	}
	w.apply(with(`""`, ""))
	w.ready("bad")
	before := w.get(services, "a").GetUID()
	w.apply(with(`None`, ""))
	w.failsAlone("bad", false, "N17", "ImmutableField", "spec.clusterIPs[0]", "truss.dev/on-immutable: recreate")
	w.apply(with(`None`, "truss.dev/on-immutable: recreate"))
	w.ready("bad")
	w.Expect(w.get(services, "a").GetUID()).NotTo(Equal(before), "replaced because the object says so")
	w.Expect(w.field(services, "a", "spec", "clusterIP")()).To(Equal("None"))
}

func TestADependencyThatIsStuckInDeletionIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("bad", fine, configMap("bad", "v: one", "finalizers: [example.com/hold]"), configMap("after", "k: v", "", "bad")))
	w.ready("bad")
	before := w.get(configMaps, "after").GetResourceVersion()
	w.Expect(w.of(configMaps).Delete(t.Context(), "bad", metav1.DeleteOptions{})).To(Succeed())
	w.failsAlone("bad", true, "stuck", "Terminating", "example.com/hold", "gone")
	w.Expect(w.state("bad", "after")()).To(HavePrefix("Blocked"))
	w.Expect(w.get(configMaps, "after").GetResourceVersion()).To(Equal(before), "its dependant is left alone")
	w.patch(configMaps, "bad", `{"metadata":{"finalizers":null}}`)
	w.ready("bad")
	w.patch(configMaps, "bad", `{"metadata":{"finalizers":null}}`)
}

func TestATerminatingNamespaceIsNotHeldUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: foreign, finalizers: [example.com/hold]}")
	w.apply(bundleOf("app", configMap("a", "k: v", ""), configMap("b", "k: v", "", "a"), configMap("c", "k: v", "", "b")))
	w.ready("app")
	w.Expect(w.client.Resource(namespaces).Delete(t.Context(), w.ns, metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.gone(bundles, "app")).Should(BeTrue(), "our finalizers are released")
	w.Eventually(func() int {
		list, err := w.of(revisions).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return -1
		}
		return len(list.Items)
	}).Should(BeZero())
	w.patch(configMaps, "foreign", `{"metadata":{"finalizers":null}}`)
	w.Eventually(func() error {
		_, err := w.client.Resource(namespaces).Get(t.Context(), w.ns, metav1.GetOptions{})
		return err
	}).Should(MatchError(ContainSubstring("not found")))
}

func TestAKindMayComeAndSayHowItIsReadyWhileABundleWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const group = "late.truss.dev"
	latecomers := v1Resource(group, "latecomers")
	w.apply(bundleOf("bad", fine, object("{apiVersion: late.truss.dev/v1, kind: Latecomer, metadata: {name: a}, spec: {}}")))
	w.failsAlone("bad", true, "N07: unknown kind", "KindUnknown", "Latecomer.late.truss.dev")
	w.install(crd(group, "Latecomer", `a: b`))
	w.failsAlone("bad", false, "S31: not opted in", "SupportDisabled", "latecomers.late.truss.dev", `smith.atlassian.com/SupportEnabled: "true"`)
	w.Expect(w.gone(latecomers, "a")()).To(BeTrue())
	w.annotate("latecomers."+group, `{"smith.atlassian.com/SupportEnabled":"true"}`)
	w.Eventually(w.state("bad", "bad")).Should(And(HavePrefix("InProgress"), ContainSubstring("truss.dev/ready-when")), "N03: no rule, and how to state one")
	w.annotate("latecomers."+group, `{"smith.atlassian.com/CrReadyWhenFieldPath":"{$.status.list[*].state}","smith.atlassian.com/CrReadyWhenFieldValue":"Up"}`)
	w.setStatus(latecomers, "a", `{"list":[{"state":"Up"},{"state":"Down"}]}`)
	w.failsAlone("bad", false, "N04: several hits", "AmbiguousField", "CrReadyWhenFieldPath", "gives 2 values")
	w.annotate("latecomers."+group, `{"smith.atlassian.com/CrReadyWhenFieldPath":"{$.status.list[?("}`)
	w.failsAlone("bad", false, "N04: a rule that does not parse", "InvalidRule", "CrReadyWhenFieldPath")
	w.annotate("latecomers."+group, `{"smith.atlassian.com/CrReadyWhenFieldPath":"status.list[0].state"}`)
	w.ready("bad")
	w.uninstall("latecomers." + group)
	w.Eventually(w.state("bad", "bad")).Should(HavePrefix("InProgress"), "N07: the kind went")
	w.install(crd(group, "Latecomer", `
    smith.atlassian.com/SupportEnabled: "true"
    truss.dev/note: again`))
	w.Eventually(w.gone(latecomers, "a")).Should(BeFalse(), "N07: and came again")
}

// annotate changes annotations of a CRD.
func (w *world) annotate(name, annotations string) {
	w.t.Helper()
	w.patchCluster(name, `{"metadata":{"annotations":`+annotations+`}}`)
}
