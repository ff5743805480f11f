package e2e

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fine is a resource that nothing is wrong with.
const fine = "{name: fine, spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: fine}, data: {k: v}}}}"

// object is a resource "bad" with an object.
func object(text string) string { return "{name: bad, spec: {object: " + text + "}}" }

// all is what a text must contain.
func all(parts ...string) types.GomegaMatcher {
	out := make([]types.GomegaMatcher, len(parts))
	for i, p := range parts {
		out[i] = ContainSubstring(p)
	}
	return And(out...)
}

// A Bundle that is wrong as a whole is refused before anything is written;
// every mistake is reported at once, with its field and what to write.
func TestBadBundlesAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	cases := map[string]struct {
		reason    string
		resources string
		want      []string
	}{
		"UnknownReference": {"a name that is not there", configMap("bad", "", "", "bla"),
			[]string{"UnknownReference", "spec.resources[1].references[0].resource", `"bla"`, "add it or correct the name"}},
		"Cycle": {"the path is shown", configMap("a", "", "", "b") + "," + configMap("b", "", "", "a"),
			[]string{"Cycle", "a -> b -> a"}},
		"SelfReference": {"the shortest cycle", configMap("a", "", "", "a"), []string{"Cycle", "a -> a"}},
		"DuplicateResource": {"a name used twice", configMap("bad", "", "") + "," + strings.Replace(configMap("bad", "", ""), "metadata: {name: bad}", "metadata: {name: other}", 1),
			[]string{"DuplicateResource", `"bad"`}},
		"DuplicateIdentity": {"N10: one object twice", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: fine}}"),
			[]string{"DuplicateIdentity", "spec.resources[1].spec.object.metadata.name", `"fine"`, "remove one of the two"}},
		"MissingName": {"N11: no name", object("{apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}"),
			[]string{"MissingName", "spec.resources[1].spec.object.metadata.name"}},
		"GenerateName": {"N11: a name that nobody knows", object("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}"),
			[]string{"GenerateName", "spec.resources[1].spec.object.metadata.generateName", "metadata.name"}},
		"ForeignNamespace": {"N12: another namespace", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: kube-system}}"),
			[]string{"ForeignNamespace", "spec.resources[1].spec.object.metadata.namespace", "kube-system"}},
		"ReservedController": {"N12: a controller of its own", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]}}`),
			[]string{"ReservedMetadata", "spec.resources[1].spec.object.metadata.ownerReferences[0].controller", "remove it"}},
		"ReservedAnnotation": {"S18: controller-private annotation", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {smith.atlassian.com/deletionTimestamp: now}}}`),
			[]string{"ReservedMetadata", "smith.atlassian.com/deletionTimestamp", "cannot be set by the user"}},
		"UndeclaredReference": {"N35", object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "!{nope}"}}`),
			[]string{"UndeclaredReference", "spec.resources[1].spec.object.data.k", "nope"}},
		"BadPath": {"a JSONPath that does not parse", `{name: bad, references: [{name: x, resource: fine, path: "data[?("}], spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "!{x}"}}}}`,
			[]string{"InvalidPath", "spec.resources[1].references[0].path"}},
		"BadDelay": {"N18: a delay that is none", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {smith.atlassian.com/deletionDelay: soon}}}"),
			[]string{"InvalidDeletionDelay", `"soon"`, "30m"}},
		"Malformed": {"S29: an object that is none", object("{data: {a: b}}"), []string{"InvalidObject", "spec.resources[1].spec.object"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.apply(bundleOf("bad", fine, tc.resources))
			w.apply(bundleOf("good", configMap("good", "k: v", "")))
			w.Eventually(func() string { return w.bundle("bad").Status.Message }).ShouldNot(BeEmpty())
			var terminal metav1.Condition
			for _, c := range w.bundle("bad").Status.Conditions {
				if c.Type == "Error" {
					terminal = c
				}
			}
			w.Expect(terminal.Reason).To(Equal("TerminalError"), tc.reason)
			w.Expect(fmt.Sprint(w.bundle("bad").Status)).To(all(tc.want...), tc.reason)
			w.Eventually(w.events("bad")).Should(ContainElement(And(HavePrefix("Warning BundleError"), ContainSubstring(tc.want[1]))), tc.reason)
			w.Expect(w.gone(configMaps, "fine")()).To(BeTrue(), "nothing of a refused Bundle is written")
			w.ready("good")
		})
	}
}

// Mistakes that only show at work fail one resource; the other branch and
// other Bundles go on.
func TestBadResourcesFailAlone(t *testing.T) {
	const source = "{name: bad-source, spec: {object: {apiVersion: e2e.truss.dev/v1, kind: Sleeper, metadata: {name: source, annotations: {truss.dev/ready-when: Exists}}, spec: {list: [{v: 1}, {v: 2}], text: words, map: {a: b}}}}},"
	reading := func(path, value string) string {
		return source + `{name: bad, references: [{name: x, resource: bad-source, path: "` + path + `"}], spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "` + value + `"}}}}`
	}
	cases := map[string]struct {
		reason    string
		resources string
		waits     bool
		want      []string
	}{
		"ClusterScoped": {"a Bundle has one namespace", object("{apiVersion: v1, kind: Namespace, metadata: {name: e2e-never}}"), false,
			[]string{"ClusterScoped", "Namespace", "its own namespace only"}},
		"RBAC": {"rights in Truss's name", object("{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: []}"), false,
			[]string{"RBACRefused", "spec.serviceAccountName"}},
		"UnknownKind": {"it may come", object("{apiVersion: nowhere.example.com/v1, kind: Ghost, metadata: {name: a}}"), true,
			[]string{"KindUnknown", "Ghost.nowhere.example.com", "CRD"}},
		"UnknownVersion": {"a version that is not served", object("{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}"), true,
			[]string{"KindUnknown", "Deployment.apps", "v1beta1"}},
		"SeveralValues": {"Smith took the first without a word", reading("spec.list[*].v", "!{x}"), false,
			[]string{"InvalidPath", "spec.resources[2].references[0].path", "more than one value", "write a path that finds one"}},
		"WrongTypeOnThePath": {"a field of a string", reading("spec.text.more", "!{x}"), false,
			[]string{"InvalidPath", "spec.resources[2].references[0].path", "spec.text.more", "needs a map, found a string"}},
		"WrongTypeInAString": {"a map in the middle of a text", reading("spec.map", "is !{x}"), false,
			[]string{"InvalidValue", "spec.resources[2].spec.object.data.k"}},
		"WrongTypeForTheServer": {"a number where the API server wants text", object("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: 5}}"), false,
			[]string{"Invalid", "ConfigMap.data", "of type string"}},
		"InvalidForTheServer": {"a field that the API server refuses", object("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 99999}]}}"), false,
			[]string{"Invalid", "spec.ports[0].port", "65535"}},
		"TooLarge": {"2 MB put together from references",
			`{name: bad-source, spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: big}, data: {k: "` + strings.Repeat("x", 600<<10) + `"}}}},` +
				`{name: bad, references: [{name: x, resource: bad-source, path: data.k}], spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "!{x}!{x}!{x}!{x}"}}}}`, false,
			[]string{"TooLarge"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.apply(bundleOf("bad", fine, tc.resources))
			w.failsAlone("bad", tc.waits, tc.reason, tc.want...)
		})
	}
}

// failsAlone checks what is said of the resource "bad" of a Bundle, and that
// its resource "fine" and another Bundle become Ready all the same.
func (w *world) failsAlone(bundle string, waits bool, reason string, want ...string) {
	w.t.Helper()
	state, event := "Error", "Warning ResourceError"
	if waits {
		state, event = "InProgress", "Normal ResourceInProgress"
	}
	w.apply(bundleOf("good", configMap("good", "k: v", "")))
	w.Eventually(w.state(bundle, "bad")).Should(And(HavePrefix(state), all(want...)), reason)
	w.Eventually(w.events(bundle)).Should(ContainElement(And(HavePrefix(event), all(want[1:]...))), reason)
	w.Eventually(w.state(bundle, "fine")).Should(HavePrefix("Ready"), "the other branch goes on")
	w.ready("good")
}
