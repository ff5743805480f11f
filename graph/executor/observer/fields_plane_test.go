package observer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// owned are the desired objects whose answers are written down in testdata. A
// Secret's stringData is folded into data before Owns is asked.
var owned = map[string]string{
	"configmap": `{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, labels: {app.kubernetes.io/name: x}, annotations: {a: b}}, data: {k: v, "dotted.key": w}}`,
	"secret":    `{apiVersion: v1, kind: Secret, metadata: {name: sec}, type: Opaque, data: {password: aHVudGVyMg==}}`,
	"service": `{apiVersion: v1, kind: Service, metadata: {name: svc}, spec: {selector: {app: a},
	  ports: [{name: http, port: 80, targetPort: 8080}, {name: dns, port: 53, protocol: UDP}]}}`,
	"pvc": `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: pvc}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}`,
	"deployment": `{apiVersion: apps/v1, kind: Deployment, metadata: {name: dep}, spec: {replicas: 2, selector: {matchLabels: {app: a}},
	  template: {metadata: {labels: {app: a}}, spec: {
	    containers: [{name: a, image: "busybox:1", env: [{name: A, value: "1"}], ports: [{containerPort: 80}, {containerPort: 81, protocol: TCP}],
	      resources: {limits: {cpu: 1000m, memory: 1024Mi}}, args: [p, q], volumeMounts: [{name: v, mountPath: /v}]}],
	    volumes: [{name: v, emptyDir: {}}], tolerations: [{key: k, operator: Exists}], nodeSelector: {a: b}}}}}`,
	"custom": `{apiVersion: observer.example.com/v1, kind: Owned, metadata: {name: cr, finalizers: [example.com/hold]}, spec: {size: 3, tags: [a, b],
	  parts: [{id: 1, text: x}, {id: 2, text: z}], free: {deep: [{a: 1}]}}}`,
}

const ownedCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: owneds.observer.example.com},
 spec: {group: observer.example.com, scope: Namespaced, names: {plural: owneds, singular: owned, kind: Owned, listKind: OwnedList},
 versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
   size: {type: integer}, tags: {type: array, x-kubernetes-list-type: set, items: {type: string}},
   parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id], items: {type: object, required: [id], properties: {id: {type: integer}, text: {type: string}}}},
   free: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}`

func TestRealAnswersOwnAllThatWasPosted(t *testing.T) {
	w := newWorld(t)
	w.installCRD(ownedCRD)
	for name, text := range owned {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			got := w.create(w.namespace, text)
			if *update {
				writeAnswer(t, name, got)
			}
			checkOwned(t, got, parse(t, text).Object)
			if f := FieldsOf(got.Object, DefaultManager); len(f.Entries()) != 1 || f.Entries()[0].Operation != metav1.ManagedFieldsOperationUpdate {
				t.Errorf("a POST leaves one Update entry, got %v", f.Entries())
			}
			clearFinalizers(t, w, got)
		})
	}
}

// TestAnswersWrittenDownOwnAllThatWasPosted repeats the check above without an
// API server.
func TestAnswersWrittenDownOwnAllThatWasPosted(t *testing.T) {
	for name, text := range owned {
		t.Run(name, func(t *testing.T) {
			checkOwned(t, readAnswer(t, name), parse(t, text).Object)
		})
	}
}

func checkOwned(t *testing.T, live *unstructured.Unstructured, desired map[string]any) {
	t.Helper()
	f := FieldsOf(live.Object, DefaultManager)
	if missing := f.Owns(desired); len(missing) > 0 {
		t.Errorf("nothing changed, but these count as lost:\n%s", lines(missing))
	}
}

func answerFile(name string) string { return filepath.Join("testdata", name+".json") }

func writeAnswer(t *testing.T, name string, u *unstructured.Unstructured) {
	t.Helper()
	raw, err := json.MarshalIndent(u.Object, "", " ")
	if err == nil {
		err = os.WriteFile(answerFile(name), append(raw, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readAnswer(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(answerFile(name))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

func clearFinalizers(t *testing.T, w *world, u *unstructured.Unstructured) {
	t.Helper()
	_, err := w.client.Dynamic.Resource(w.resource(u)).Namespace(w.namespace).Patch(w.ctx, u.GetName(),
		types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDriftIsSplitByWhoHoldsThePath(t *testing.T) {
	w := newWorld(t)
	desired := parse(t, owned["deployment"]).Object
	w.create(w.namespace, owned["deployment"])
	deps := w.client.Dynamic.Resource(deployments).Namespace(w.namespace)

	scale := []byte(`{"spec":{"replicas":5}}`)
	if _, err := deps.Patch(w.ctx, "dep", types.MergePatchType, scale, metav1.PatchOptions{FieldManager: "hpa"}, "scale"); err != nil {
		t.Fatal(err)
	}
	edit := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"busybox:2"}]}}}}`)
	if _, err := deps.Patch(w.ctx, "dep", types.StrategicMergePatchType, edit, metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	live := w.apply(w.namespace, "other-team", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: dep}, spec: {template: {spec: {containers: [{name: a, env: [{name: A, value: "2"}]}]}}}}`)
	if *update {
		writeAnswer(t, "drifted", live)
	}
	checkSplit(t, live, desired)
}

// TestDriftWrittenDownIsSplit repeats the check above without an API server.
func TestDriftWrittenDownIsSplit(t *testing.T) {
	checkSplit(t, readAnswer(t, "drifted"), parse(t, owned["deployment"]).Object)
}

func checkSplit(t *testing.T, live *unstructured.Unstructured, desired map[string]any) {
	t.Helper()
	missing := FieldsOf(live.Object, DefaultManager).Owns(desired)
	const want = ".spec.replicas\n" +
		`.spec.template.spec.containers[name="a"].env[name="A"].value` + "\n" +
		`.spec.template.spec.containers[name="a"].image`
	if got := lines(missing); got != want {
		t.Fatalf("lost paths:\n%s\nwant:\n%s", got, want)
	}
	retake, foreign := SplitDrift(live, DefaultManager, missing...)
	if got := lines(retake); got != missing[2].String() {
		t.Errorf("what an Update set is set back, got:\n%s", got)
	}
	wantForeign := []string{
		".spec.replicas is held by hpa (Update of scale)",
		`.spec.template.spec.containers[name="a"].env[name="A"].value is held by other-team (Apply)`,
	}
	if len(foreign) != 2 || foreign[0].String() != wantForeign[0] || foreign[1].String() != wantForeign[1] {
		t.Errorf("what a subresource or an apply manager holds is reported, got: %v", foreign)
	}
	left := RemovePath(desired, foreign[0].Path)
	if _, found, _ := unstructured.NestedFieldNoCopy(left, "spec", "replicas"); found {
		t.Error("a reported path is left out of the next apply")
	}
	if holders := Holders(live.GetManagedFields(), missing[0]); len(holders) != 1 || holders[0].Subresource != "scale" {
		t.Errorf("holders of replicas: %v", holders)
	}
}
