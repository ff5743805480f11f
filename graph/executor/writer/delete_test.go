package writer

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
)

func (c *child) exists() bool {
	_, err := c.w.others.Resource(c.gvr()).Namespace(c.id.Namespace).Get(c.w.ctx, c.id.Name, metav1.GetOptions{})
	return !apierrors.IsNotFound(err)
}

// removed is remove where nothing may stand in the way.
func (c *child) removed(final bool) (Removed, string) {
	c.w.t.Helper()
	out, f, requests := c.remove(final)
	if f != nil {
		c.w.t.Fatalf("cannot remove %s: %s: %v", c.id, f.Reason, f)
	}
	return out, requests
}

func TestDeletesCarryUIDPrecondition(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	out, _ := c.ensured()
	bodies := ""
	w.wire.before = map[string]func(){"delete": func() {
		bodies = w.wire.body()
		w.replace(c)
	}}
	_, f, requests := c.remove(true)
	expect(t, "one look, one DELETE", requests, "get delete")
	var options metav1.DeleteOptions
	w.must(json.Unmarshal([]byte(bodies), &options))
	if options.Preconditions == nil || *options.Preconditions.UID != out.Live.Object.GetUID() {
		t.Errorf("preconditions %+v, want the UID that was seen", options.Preconditions)
	}
	if f == nil || f.Class != Retriable || f.Reason != ReasonReplaced {
		t.Errorf("failure %v: the object of that name is another now", f)
	}
	gone, _ := c.removed(true)
	if !gone.Gone || !gone.Kept || dataOf(c.live())["k"] != "theirs" {
		t.Errorf("removal %+v of an object that is not ours", gone)
	}
}

func TestDeleteCostsTwoRequestsAndTheAnswerProvesIt(t *testing.T) {
	for _, object := range []string{configMap("{k: v}"), "{apiVersion: v1, kind: Secret, metadata: {name: a}}", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}"} {
		c := newWorld(t).child(object)
		c.ensured()
		out, requests := c.removed(true)
		expect(t, object, requests, "get delete")
		if !out.Gone || c.exists() {
			t.Errorf("removal %+v of %s, there %t", out, object, c.exists())
		}
	}
}

func TestFinalizersOfOthersAreWaitedForAndNamed(t *testing.T) {
	w := newWorld(t)
	c := w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [example.com/slow]}}")
	made, _ := c.ensured()
	out, _ := c.removed(true)
	if out.Gone || out.UID != made.Live.Object.GetUID() || !strings.Contains(out.Message, "example.com/slow") {
		t.Errorf("removal %+v, want to wait for the finalizer", out)
	}
	_, requests := c.removed(true)
	expect(t, "ordered once", requests, "get")
	c.seen()
	_, f, _ := c.ensure()
	if f == nil || f.Reason != ReasonTerminating {
		t.Errorf("failure %v: what is going is not changed", f)
	}
	_, err := w.others.Resource(configMaps).Namespace(w.namespace).
		Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	w.must(err)
	out, requests = c.removed(true)
	expect(t, "gone by name", requests, "get")
	if !out.Gone {
		t.Errorf("removal %+v", out)
	}
}

func TestLostAcknowledgementOfDelete(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.ensured()
	w.wire.lose = "delete"
	if _, f, _ := c.remove(true); f == nil || f.Class != Retriable {
		t.Errorf("failure %v", f)
	}
	if out, _ := c.removed(true); !out.Gone {
		t.Errorf("removal %+v", out)
	}
}

func TestDetachAnnotationOrphans(t *testing.T) {
	w := newWorld(t)
	need := w.newOwner("need")
	c := w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: x}, annotations: {client.lifecycle.config.k8s.io/deletion: detach}}, data: {k: v}}")
	c.needs = []metav1.OwnerReference{need.Reference(false)}
	c.ensured()
	foreign := w.newOwner("foreign").Reference(false)
	live := c.live()
	live.SetOwnerReferences(append(live.GetOwnerReferences(), foreign))
	_, err := w.others.Resource(configMaps).Namespace(w.namespace).Update(w.ctx, live, metav1.UpdateOptions{FieldManager: "somebody"})
	w.must(err)
	for _, final := range []bool{true, true} {
		out, _ := c.removed(final)
		if !out.Gone || !out.Kept {
			t.Errorf("removal %+v", out)
		}
	}
	live = c.live()
	if diff := cmp.Diff([]metav1.OwnerReference{foreign}, live.GetOwnerReferences()); diff != "" {
		t.Errorf("with a reference to a need that goes the garbage collector deletes what was to stay (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"app": "x"}, live.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if live.GetAnnotations()[resource.AppliedAnnotation] != "" {
		t.Error("it is still signed")
	}
}

func TestWhatIsNotOursHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	theirs := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [example.com/slow]}}")
	api := w.others.Resource(configMaps).Namespace(w.namespace)
	_, err := api.Create(w.ctx, theirs, metav1.CreateOptions{})
	w.must(err)
	w.must(api.Delete(w.ctx, "a", metav1.DeleteOptions{}))
	out, _ := w.child(configMap("{k: v}")).removed(true)
	if !out.Gone || !out.Kept {
		t.Errorf("removal %+v: a foreign object that never goes would block the owner for ever", out)
	}
	_, err = api.Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	w.must(err)
}

func TestDeletionDelayHoldsAPruneUpButNoTeardown(t *testing.T) {
	w := newWorld(t)
	c := w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {smith.atlassian.com/deletionDelay: 24h}}, data: {k: v}}")
	c.ensured()
	out, requests := c.removed(false)
	expect(t, "the first pass stamps", requests, "get patch")
	if out.Gone || out.After != 24*time.Hour {
		t.Errorf("removal %+v", out)
	}
	w.skew = 23 * time.Hour
	out, requests = c.removed(false)
	expect(t, "the time runs on", requests, "get")
	if out.Gone || out.After > time.Hour+time.Minute || out.After < 59*time.Minute {
		t.Errorf("removal %+v, want an hour left", out)
	}

	c.seen()
	_, requests = c.ensured()
	expect(t, "wanted again", requests, "patch")
	c.seen()
	_, requests = c.ensured()
	expect(t, "settled", requests, "")
	if out, _ = c.removed(false); out.After != 24*time.Hour {
		t.Errorf("removal %+v: the delay begins anew", out)
	}
	w.skew += 24*time.Hour + time.Second
	out, requests = c.removed(false)
	expect(t, "due", requests, "get delete")
	if !out.Gone {
		t.Errorf("removal %+v", out)
	}
	c.seenGone()
	c.ensured()
	if out, _ = c.removed(true); !out.Gone {
		t.Errorf("removal %+v: the owner itself goes", out)
	}
}

func (c *child) seenGone() {
	c.known = false
	c.store.ObserveDeleted(c.id.Namespace, c.id.Name, "", "")
}

func TestADelayThatIsNoDurationSaysSo(t *testing.T) {
	c := newWorld(t).child("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {smith.atlassian.com/deletionDelay: one day}}}")
	c.ensured()
	_, f, requests := c.remove(false)
	expect(t, "nothing is guessed", requests, "get")
	if f == nil || f.Class != Terminal || !strings.Contains(f.Message, "24h") {
		t.Errorf("failure %v, want a remedy", f)
	}
}

const relicCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: relics.gone.example.com}
spec:
  group: gone.example.com
  scope: Namespaced
  names: {plural: relics, singular: relic, kind: Relic, listKind: RelicList}
  versions:
  - {name: v1, served: true, storage: false, schema: &any {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: true, schema: *any}
`

func TestGoneIsProvedByName(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.must(plane.Apply(t.Context(), []byte(relicCRD)))
	c := w.child("{apiVersion: gone.example.com/v1, kind: Relic, metadata: {name: a, finalizers: [example.com/slow]}}")
	c.ensured()
	w.must(plane.Apply(t.Context(), []byte(strings.Replace(relicCRD, "name: v1, served: true", "name: v1, served: false", 1))))
	later := schema.GroupVersionResource{Group: "gone.example.com", Version: "v2", Resource: "relics"}
	g.Eventually(func() string {
		_, f, requests := c.remove(true)
		if f != nil {
			return f.Message
		}
		return requests
	}, "20s", "20ms").Should(HavePrefix("get get get"), "another served version is asked: a path that is not served proves nothing")
	left, err := w.others.Resource(later).Namespace(w.namespace).Get(w.ctx, "a", metav1.GetOptions{})
	w.must(err)
	if left.GetDeletionTimestamp() == nil {
		t.Error("it was not deleted")
	}
	_, err = w.others.Resource(later).Namespace(w.namespace).
		Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	w.must(err)
	out, requests := c.removed(true)
	expect(t, "gone by name in the other version", requests, "get get get")
	g.Expect(out.Gone).To(BeTrue())

	w.must(w.others.Resource(crds).Delete(w.ctx, "relics.gone.example.com", metav1.DeleteOptions{}))
	g.Eventually(func() string {
		out, _, _ := c.remove(true)
		return out.Message
	}, "20s", "20ms").Should(ContainSubstring("not installed any more"))
}

// forged is an answer that the API server did not give.
func forged(code int, body string) func(*http.Request) (*http.Response, error) {
	return func(q *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: q,
			Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

func TestWhatCouldNotBeFoundOutIsNotGone(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.ensured()
	for name, code := range map[string]int{"a path that is not served": 404, "an API server that is away": 503, "one that fails": 500, "one that forbids": 403} {
		w.wire.instead = map[string]func(*http.Request) (*http.Response, error){"get": forged(code, "404 page not found")}
		out, f, _ := c.remove(true)
		if f == nil || out.Gone {
			t.Errorf("%s: removal %+v, want a failure", name, out)
		}
	}
	if !c.exists() {
		t.Error("it was deleted on a guess")
	}
}

func TestBuiltInKindsAreLookedForInTheirOtherVersions(t *testing.T) {
	w := newWorld(t)
	c := w.child(deployment)
	c.ensured()
	removal := c.removal(true)
	removal.Entry.Version = "v1beta1"
	out, f := w.writer.Delete(w.ctx, removal)
	if f != nil || out.Kept || out.UID == "" {
		t.Errorf("removal %+v, %v: a Deployment has no CRD, and is there all the same", out, f)
	}
}
