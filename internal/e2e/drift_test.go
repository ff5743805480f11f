package e2e

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bundleOf is a Bundle of ConfigMaps and others, each given as
// "name: {flow map of the object without apiVersion, kind and name}".
func bundleOf(name string, resources ...string) string {
	return "apiVersion: smith.atlassian.com/v1\nkind: Bundle\nmetadata: {name: " + name + "}\nspec:\n  resources: [" +
		strings.Join(resources, ",\n    ") + "]\n"
}

// configMap is a resource of a Bundle; more goes into its metadata.
func configMap(name, data, more string, needs ...string) string {
	var refs []string
	for _, n := range needs {
		refs = append(refs, "{resource: "+n+"}")
	}
	if more != "" {
		more = ", " + more
	}
	return fmt.Sprintf("{name: %[1]s, references: [%[4]s], spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: %[1]s%[3]s}, data: {%[2]s}}}}",
		name, data, more, strings.Join(refs, ", "))
}

func TestDriftIsSetBackAndWhatOthersAddStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", configMap("settings", `color: blue, size: "3"`, "")))
	w.ready("app")
	w.patch(configMaps, "settings", `{"data":{"color":"red","extra":"mine"},
		"metadata":{"labels":{"team":"a"},"annotations":{"note":"n"},"finalizers":["example.com/hold"]}}`)
	w.Eventually(w.field(configMaps, "settings", "data", "color")).Should(Equal("blue"), "our field is set back")
	live := w.get(configMaps, "settings")
	w.Expect(live.GetLabels()).To(HaveKeyWithValue("team", "a"), "N14: foreign label")
	w.Expect(live.GetAnnotations()).To(HaveKeyWithValue("note", "n"), "N14: foreign annotation")
	w.Expect(live.GetFinalizers()).To(ContainElement("example.com/hold"), "N14: foreign finalizer")
	w.Expect(w.field(configMaps, "settings", "data", "extra")()).To(Equal("mine"))

	w.apply(bundleOf("app", configMap("settings", "color: green", "")))
	w.Eventually(w.field(configMaps, "settings", "data")).Should(Equal(map[string]any{"color": "green", "extra": "mine"}), "N15: size disappears")
	w.ready("app")
	w.apply(bundleOf("app", "{name: settings, spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}}}"))
	w.Eventually(w.field(configMaps, "settings", "data")).Should(Equal(map[string]any{"extra": "mine"}), "N15: the whole top-level field is dropped")
	w.Expect(w.get(configMaps, "settings").GetLabels()).To(HaveKeyWithValue("team", "a"))
	w.patch(configMaps, "settings", `{"metadata":{"finalizers":null}}`)
}

func TestADeletedObjectIsMadeAnewAndItsDependantsLearnItsUID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", configMap("a", "k: v", ""), configMap("b", "k: v", "", "a")))
	w.ready("app")
	before := w.get(configMaps, "a").GetUID()
	w.Expect(w.of(configMaps).Delete(t.Context(), "a", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(func() bool {
		a, err := w.of(configMaps).Get(t.Context(), "a", metav1.GetOptions{})
		return err == nil && a.GetUID() != before && strings.Contains(fmt.Sprint(w.get(configMaps, "b").GetOwnerReferences()), string(a.GetUID()))
	}).Should(BeTrue(), "N21: the dependant refers to the new UID")
}

func TestServerDefaultsConvergeAndStayQuiet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("web",
		`{name: web, spec: {object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}},
		   template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "registry.k8s.io/pause:3.10", readinessProbe: {httpGet: {port: 80}}}]}}}}}}`,
		`{name: svc, spec: {object: {apiVersion: v1, kind: Service, metadata: {name: svc}, spec: {selector: {app: web}, ports: [{port: 80}]}}}}`))
	w.ready("web")
	since := mark(t)
	for _, name := range []string{"web"} {
		w.patch(deployments, name, `{"metadata":{"annotations":{"touched":"yes"}}}`)
	}
	w.patch(services, "svc", `{"metadata":{"annotations":{"touched":"yes"}}}`)
	w.Consistently(func() []string { return texts(writes(requests(t, since, w.ns))) }, "700ms").Should(BeEmpty(), "N13: defaults are no drift")
	w.ready("web")
}

func TestAnotherVersionOfAKindIsTheSameObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const scaler = `{name: hpa, spec: {object: {apiVersion: autoscaling/VERSION, kind: HorizontalPodAutoscaler,
		metadata: {name: hpa, annotations: {truss.dev/ready-when: Exists}}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}}}}`
	scalers := v1Resource("autoscaling", "horizontalpodautoscalers")
	w.apply(bundleOf("app", strings.Replace(scaler, "VERSION", "v1", 1)))
	w.settled("app")
	before := w.get(scalers, "hpa").GetUID()
	w.apply(bundleOf("app", strings.NewReplacer("VERSION", "v2", "maxReplicas: 3", "maxReplicas: 4").Replace(scaler)))
	w.Eventually(w.field(scalers, "hpa", "spec", "maxReplicas")).Should(Equal(int64(4)))
	w.settled("app")
	w.Expect(w.get(scalers, "hpa").GetUID()).To(Equal(before), "N16: changed, not deleted and made anew")
}
