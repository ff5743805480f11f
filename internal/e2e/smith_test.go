package e2e

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scenarios of Smith's integration tests that no other file has.

func TestWorkflowOwnersAreTheBundleThenItsNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const workflow = `{name: secret, spec: {object: {apiVersion: v1, kind: Secret, metadata: {name: secret}, stringData: {a: VALUE}}}},
		{name: config, references: [{resource: secret}, {name: type, resource: secret, path: type}], spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: config, labels: {v: VALUE}}, data: {a: VALUE, type: "!{type}"}}}},
		{name: account, spec: {object: {apiVersion: v1, kind: ServiceAccount, metadata: {name: account}}}},
		{name: sleeper, spec: {object: {apiVersion: e2e.truss.dev/v1, kind: Sleeper, metadata: {name: sleeper}, spec: {wakeupMessage: VALUE}}}}`
	bundle := w.apply(strings.Replace(bundleOf("flow", strings.ReplaceAll(workflow, "VALUE", "v1")), "{name: flow}", "{name: flow, labels: {of: bundle}}", 1))
	w.Eventually(w.gone(sleepers, "sleeper")).Should(BeFalse())
	w.setStatus(sleepers, "sleeper", awake)
	w.ready("flow")
	config, block := w.get(configMaps, "config"), true
	w.Expect(config.GetOwnerReferences()).To(Equal([]metav1.OwnerReference{
		{APIVersion: "smith.atlassian.com/v1", Kind: "Bundle", Name: "flow", UID: bundle.GetUID(), Controller: &block, BlockOwnerDeletion: &block},
		{APIVersion: "v1", Kind: "Secret", Name: "secret", UID: w.get(secrets, "secret").GetUID(), BlockOwnerDeletion: &block},
	}), "S08, S91: two references to one resource are one owner")
	w.Expect(config.GetLabels()).NotTo(HaveKey("of"), "S91: the Bundle's labels are not inherited")

	w.apply(bundleOf("flow", strings.ReplaceAll(workflow, "VALUE", "v2")))
	w.Eventually(w.field(configMaps, "config", "data", "a")).Should(Equal("v2"))
	w.ready("flow")
	w.Expect(w.field(configMaps, "config", "metadata", "labels", "v")()).To(Equal("v2"))
	w.Expect(w.field(secrets, "secret", "data", "a")()).To(Equal("djI="), "S92")
	w.Expect(w.field(sleepers, "sleeper", "spec", "wakeupMessage")()).To(Equal("v2"))
	w.apply(bundleOf("flow"))
	w.settled("flow")
	for name, r := range map[string]schema.GroupVersionResource{"config": configMaps, "secret": secrets, "account": accounts, "sleeper": sleepers} {
		w.Expect(w.gone(r, name)()).To(BeTrue(), "S92: an empty Bundle removes all")
	}
}

func TestAMissingRightHoldsTheTeardownUpAndOthersStillGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(runner)
	w.apply(consent("runner"))
	w.patchRole("runner", "configmaps", "secrets")
	w.apply(strings.Replace(bundleOf("app", configMap("a", "k: v", ""), "{name: s, spec: {object: {apiVersion: v1, kind: Secret, metadata: {name: s}}}}"), "spec:\n", "spec:\n  serviceAccountName: runner\n", 1))
	w.ready("app")
	w.patchRole("runner", "configmaps")
	w.Expect(w.of(bundles).Delete(t.Context(), "app", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.gone(configMaps, "a")).Should(BeTrue(), "S17: the others are still tried")
	w.Eventually(func() string { return fmt.Sprint(w.bundle("app").Status.Conditions) }).Should(all("TeardownForbidden", `"secrets"`, "system:serviceaccount:"+w.ns+":runner"))
	w.Expect(w.get(bundles, "app").GetFinalizers()).To(ContainElement("smith.atlassian.com/deleteResources"), "S17: the finalizer is kept")
	w.patchRole("runner", "configmaps", "secrets")
	w.Eventually(w.gone(bundles, "app")).Should(BeTrue(), "N29: recovers by itself")
	w.Expect(w.gone(secrets, "s")()).To(BeTrue())
}

func TestForegroundDeletionEndsLikeAnyOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", configMap("a", "k: v", ""), configMap("b", "k: v", "", "a")))
	w.ready("app")
	foreground := metav1.DeletePropagationForeground
	w.Expect(w.of(bundles).Delete(t.Context(), "app", metav1.DeleteOptions{PropagationPolicy: &foreground})).To(Succeed())
	w.Eventually(w.gone(bundles, "app")).Should(BeTrue(), "S14, S15")
	w.Expect(w.children()).To(BeEmpty())
	w.Expect(w.records()).To(BeZero())
}

func TestDeploymentIsGatedOnItsRolloutAndNamesItsDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const deployment = `{name: NAME, spec: {object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {progressDeadlineSeconds: 2, selector: {matchLabels: {app: NAME}},
		template: {metadata: {labels: {app: NAME}}, spec: {NODE containers: [{name: c, image: "registry.k8s.io/pause:3.10"}]}}}}}}`
	with := func(name, node string) string {
		return strings.NewReplacer("NAME", name, "NODE", node).Replace(deployment)
	}
	w.apply(bundleOf("app", with("good", ""), with("never", "nodeSelector: {no: such},"), configMap("after", "k: v", "", "good"), configMap("blocked", "k: v", "", "never")))
	w.Eventually(w.state("app", "after")).Should(HavePrefix("Ready"), "S97")
	w.Eventually(w.state("app", "never")).Should(And(HavePrefix("Error"), ContainSubstring("Progress deadline exceeded")), "S98")
	w.Expect(w.gone(configMaps, "blocked")()).To(BeTrue())
}

func TestExamplesAreCheckedBeforeAnythingExists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	consumer := func(name, example string) string {
		return `{name: ` + name + `, references: [{name: port, resource: gate, path: status.port` + example + `}],
			spec: {object: {apiVersion: v1, kind: Service, metadata: {name: ` + name + `}, spec: {ports: [{port: "!{port}"}]}}}}`
	}
	w.apply(bundleOf("early", sleeper("gate", ""), consumer("wrong", ", example: 99999"), consumer("right", ", example: 80"), consumer("unknown", "")))
	w.Eventually(w.state("early", "wrong")).Should(all("Error", "ExampleRefused", "spec.ports[0].port"), "S22: before its need is Ready")
	w.Expect(w.state("early", "right")()).To(HavePrefix("Blocked"))
	w.Expect(w.state("early", "unknown")()).To(HavePrefix("Blocked"), "S22: without an example nothing can be said")
	w.Expect(w.gone(services, "right")()).To(BeTrue(), "a dry run leaves nothing behind")
}

func TestAnObjectThatSomebodyKeepsChangingBackIsNotFoughtOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", configMap("fought", "k: ours", ""), configMap("fine", "k: v", "")))
	w.ready("app")
	since := mark(t)
	w.Eventually(func() string {
		if w.field(configMaps, "fought", "data", "k")() == "ours" {
			w.patch(configMaps, "fought", `{"data":{"k":"theirs"}}`)
		}
		return w.state("app", "fought")()
	}).Should(all("NotConverging", "managedFields"), "S07")
	w.Expect(len(writes(requests(t, since, w.ns)))).To(BeNumerically("<", 15), "no hot loop")
	w.Expect(w.state("app", "fine")()).To(HavePrefix("Ready"))
}

func TestASpecChangeIsNotReleasedByTheOldStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := func(v string) string { return strings.Replace(sleeper("gate", ""), "spec: {}", "spec: {v: "+v+"}", 1) }
	w.apply(bundleOf("app", gate("one"), configMap("after", "v: one", "", "gate")))
	w.Eventually(w.gone(sleepers, "gate")).Should(BeFalse())
	w.setStatus(sleepers, "gate", `{"state":"Awake!","observedGeneration":1}`)
	w.ready("app")
	w.apply(bundleOf("app", gate("two"), configMap("after", "v: two", "", "gate")))
	w.Eventually(w.state("app", "gate")).Should(And(HavePrefix("InProgress"), ContainSubstring("observedGeneration")), "N02")
	w.Expect(w.field(configMaps, "after", "data", "v")()).To(Equal("one"))
	w.setStatus(sleepers, "gate", `{"observedGeneration":2}`)
	w.ready("app")
	w.Expect(w.field(configMaps, "after", "data", "v")()).To(Equal("two"))
}

func TestAnyServedVersionOfAKindWillDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const group = "versions.truss.dev"
	definition := crd(group, "Versioned", `smith.atlassian.com/SupportEnabled: "true"
		smith.atlassian.com/CrReadyWhenFieldPath: "{$.spec.ready}"
		smith.atlassian.com/CrReadyWhenFieldValue: "yes"`)
	first, second, _ := strings.Cut(definition, "  - name: v1\n")
	v2 := strings.NewReplacer("served: true", "served: false", "storage: true", "storage: false").Replace("  - name: v2\n" + second)
	w.install(first + v2 + "  - name: v1\n" + second)
	w.apply(bundleOf("app", `{name: v, spec: {object: {apiVersion: versions.truss.dev/v1, kind: Versioned, metadata: {name: v}, spec: {ready: "yes"}}}}`))
	w.ready("app")
}
