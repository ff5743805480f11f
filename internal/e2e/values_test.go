package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestValuesKeepTheirTypesAndStandInStrings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: values}
spec:
  resources:
  - name: source
    spec:
      object: {apiVersion: e2e.truss.dev/v1, kind: Sleeper, metadata: {name: source}, spec: {}}
  - name: target
    references:
    - {name: int, resource: source, path: status.int}
    - {name: bool, resource: source, path: status.bool}
    - {name: float, resource: source, path: status.float}
    - {name: text, resource: source, path: status.text}
    - {name: map, resource: source, path: status.map}
    - {name: list, resource: source, path: status.list}
    - {name: picked, resource: source, path: 'status.items[?(@.name=="b")].value'}
    spec:
      object:
        apiVersion: e2e.truss.dev/v1
        kind: Sleeper
        metadata: {name: target, annotations: {truss.dev/ready-when: Exists}}
        spec:
          int: "!{int}"
          bool: "!{bool}"
          float: "!{float}"
          map: "!{map}"
          list: ["!{list}", ["!{text}"]]
          picked: "!{picked}"
          sentence: "!{text} has !{int}, !!{literal} and !{bool}"
`)
	w.Eventually(w.gone(sleepers, "source")).Should(BeFalse())
	w.setStatus(sleepers, "source", `{"state":"Awake!","int":23,"bool":true,"float":1.5,"text":"it","map":{"a":["b"]},
		"list":[1,2],"items":[{"name":"a","value":"no"},{"name":"b","value":"yes"}]}`)
	w.ready("values")
	w.Expect(w.get(sleepers, "target").Object["spec"]).To(Equal(map[string]any{
		"int": int64(23), "bool": true, "float": 1.5, "map": map[string]any{"a": []any{"b"}},
		"list": []any{[]any{int64(1), int64(2)}, []any{"it"}}, "picked": "yes",
		"sentence": "it has 23, !{literal} and true",
	}))
	w.setStatus(sleepers, "source", `{"int":24}`)
	w.Eventually(w.field(sleepers, "target", "spec", "int")).Should(Equal(int64(24)), "N20: one event brings the new value")
}

func TestAValueThatIsNotThereYetIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: late}
spec:
  resources:
  - name: source
    spec: {object: {apiVersion: e2e.truss.dev/v1, kind: Sleeper, metadata: {name: source}, spec: {}}}
  - name: target
    references: [{name: host, resource: source, path: status.host}]
    spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: target}, data: {host: "!{host}"}}}
`)
	w.Eventually(w.gone(sleepers, "source")).Should(BeFalse())
	w.setStatus(sleepers, "source", `{"state":"Awake!"}`)
	w.Eventually(w.state("late", "target")).Should(And(HavePrefix("InProgress WaitsForValue"), ContainSubstring("status.host")))
	w.setStatus(sleepers, "source", `{"host":"db.local"}`)
	w.ready("late")
	w.Expect(w.field(configMaps, "target", "data", "host")()).To(Equal("db.local"))
}

func TestBindSecretReadsTheOutputsDataIntoASecretOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const bundle = `
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: bind}
spec:
  resources:
  - name: db
    spec: {object: {apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: hunter2}}}
  - name: app
    references: [{name: pw, resource: db, path: data.password, modifier: bindsecret}]
    spec: {object: {apiVersion: v1, kind: Secret, metadata: {name: app}, stringData: {url: "db://user:!{pw}@host"}}}
`
	w.apply(bundle)
	w.ready("bind")
	app, err := w.core.CoreV1().Secrets(w.ns).Get(t.Context(), "app", metav1.GetOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(string(app.Data["url"])).To(Equal("db://user:hunter2@host"))
	w.patch(secrets, "db", `{"metadata":{"annotations":{"note":"touched"}}}`)
	w.Eventually(w.field(secrets, "db", "metadata", "annotations", "note")).Should(Equal("touched"))
	w.ready("bind")
	w.never("hunter2", "bind")
}

// never checks that a secret value is in no place that people see: the
// Bundle, its events, the inventory.
func (w *world) never(value, bundle string) {
	w.t.Helper()
	b := w.bundle(bundle)
	for _, c := range b.Status.Conditions {
		w.Expect(c.Message).NotTo(ContainSubstring(value))
	}
	w.Expect(b.Status.Message).NotTo(ContainSubstring(value))
	for _, r := range b.Status.ResourceStatuses {
		w.Expect(stateOf(r.Conditions)).NotTo(ContainSubstring(value))
	}
	for _, e := range w.events(bundle)() {
		w.Expect(e).NotTo(ContainSubstring(value))
	}
}

func TestASecretsDataStaysInSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: leak}
spec:
  resources:
  - name: db
    spec: {object: {apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: hunter2}}}
  - name: app
    references: [{name: pw, resource: db, path: data.password, modifier: bindsecret}]
    spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: app}, data: {pw: "!{pw}"}}}
`)
	w.Eventually(w.state("leak", "app")).Should(And(HavePrefix("Error TerminalError: SecretData"), ContainSubstring("truss.dev/allow-secret-data")))
	w.Expect(w.gone(configMaps, "app")()).To(BeTrue())
	w.never("hunter2", "leak")
}

func TestABundleIsANodeOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: outer}
spec:
  resources:
  - name: inner
    spec:
      object:
        apiVersion: smith.atlassian.com/v1
        kind: Bundle
        metadata: {name: inner}
        spec:
          resources:
          - name: gate
            spec: {object: {apiVersion: e2e.truss.dev/v1, kind: Sleeper, metadata: {name: gate}, spec: {}}}
  - name: after
    references: [{name: progress, resource: inner, path: status.progress}]
    spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: after}, data: {inner: "!{progress}"}}}
`)
	w.Eventually(w.gone(sleepers, "gate")).Should(BeFalse())
	w.Eventually(w.state("outer", "after")).Should(HavePrefix("Blocked"))
	w.setStatus(sleepers, "gate", `{"state":"Awake!"}`)
	w.ready("outer")
	w.Expect(w.field(configMaps, "after", "data", "inner")()).To(Equal("1/1"))
	w.remove("outer")
	w.Expect(w.gone(bundles, "inner")()).To(BeTrue())
	w.Expect(w.gone(sleepers, "gate")()).To(BeTrue(), "the inner Bundle takes its own objects down first")
}
