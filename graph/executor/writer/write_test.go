package writer

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph/resource"
)

func configMap(data string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: " + data + "}"
}

func dataOf(u *unstructured.Unstructured) map[string]string {
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	return data
}

func expect(t *testing.T, reason, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: requests %q, want %q", reason, got, want)
	}
}

func TestFirstWriteIsAPost(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	recorded := 0
	c.before = func(context.Context) error { recorded++; return nil }
	out, requests := c.ensured()
	expect(t, "a new object", requests, "create")
	if !out.Created || !out.Wrote || recorded != 1 {
		t.Errorf("outcome %+v after %d calls of BeforeCreate", out, recorded)
	}
	live := c.live()
	if diff := cmp.Diff(w.owner.Labels(), live.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if _, ours := testKey.Verify(w.owner.UID, c.id, live.GetAnnotations()[resource.AppliedAnnotation]); !ours {
		t.Error("what we made is not signed")
	}
	if !metav1.IsControlledBy(live, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"uid": string(w.owner.UID)}}}) {
		t.Error("the owner is not the controller")
	}
}

func TestNothingIsWrittenBeforeItIsRecorded(t *testing.T) {
	c := newWorld(t).child(configMap("{k: v}"))
	c.before = func(context.Context) error { return errors.New("no inventory") }
	_, f, requests := c.ensure()
	expect(t, "an inventory that cannot be written", requests, "")
	if f == nil {
		t.Error("the failure is not told")
	}
}

func TestFirstChangeCostsTwoWritesLaterOnesOne(t *testing.T) {
	c := newWorld(t).child(configMap("{k: '0'}"))
	c.ensured()
	for i, want := range []string{"migrate apply", "apply", "apply"} {
		c.want(configMap(fmt.Sprintf("{k: '%d'}", i+1)))
		_, requests := c.ensured()
		expect(t, fmt.Sprintf("change %d", i+1), requests, want)
		if got := dataOf(c.live())["k"]; got != fmt.Sprint(i+1) {
			t.Errorf("change %d: data %q", i+1, got)
		}
	}
	next := c.restarted()
	next.want(configMap("{k: again}"))
	_, requests := next.ensured()
	expect(t, "a change after a restart", requests, "apply")
}

func TestDroppedFieldDisappears(t *testing.T) {
	c := newWorld(t).child(configMap("{a: '1', b: '1', c: '1'}"))
	c.ensured()
	c.edit("{data: {theirs: x}}")
	c.want(configMap("{a: '1', b: '1'}"))
	c.ensured()
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "1", "theirs": "x"}, dataOf(c.live())); diff != "" {
		t.Errorf("dropped after the POST (-want +got):\n%s", diff)
	}
	c.want(configMap("{a: '1'}"))
	c.ensured()
	if diff := cmp.Diff(map[string]string{"a": "1", "theirs": "x"}, dataOf(c.live())); diff != "" {
		t.Errorf("dropped after an apply (-want +got):\n%s", diff)
	}
}

const (
	pod        = "{containers: [{name: c, image: i, ports: [{containerPort: 80}], resources: {limits: {cpu: 1000m}}, env: [{name: A, value: b}]}], volumes: [{name: v, emptyDir: {}}]}"
	deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: " + pod + "}}}"
)

func TestNothingChangedNothingSent(t *testing.T) {
	w := newWorld(t)
	cases := map[string]struct{ reason, object string }{
		"ConfigMap":   {"Nothing is defaulted", configMap("{k: v}")},
		"Deployment":  {"cpu 1000m becomes 1, ports get a protocol, much is defaulted", deployment},
		"Claim":       {"A volume mode is defaulted", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}"},
		"Secret":      {"stringData becomes data", "{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {k: v}, data: {l: dg==}}"},
		"Service":     {"Addresses, target ports and policies are defaulted", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, ports: [{name: p, port: 80}, {name: s, port: 443, protocol: TCP}]}}"},
		"Policy":      {"Empty maps and lists", "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}, ingress: [{}], egress: []}}"},
		"Job":         {"The selector and labels of the template are generated", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"},
		"Nulls":       {"Nulls are no fields", "{apiVersion: v1, kind: ConfigMap, metadata: {name: nulls, labels: {x: null}, annotations: null}, data: {k: v, l: null}}"},
		"Thing":       {"A custom resource", "{apiVersion: writer.example.com/v1, kind: Thing, metadata: {name: a}, spec: {list: [1, {a: null}, []], empty: {}, f: 1.5, big: 9007199254740993}}"},
		"Account":     {"Nothing but a name", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}"},
		"Ingress":     {"Lists of maps without keys", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {rules: [{host: h.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}]}}]}}"},
		"StatefulSet": {"Claim templates are objects", "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: a, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: " + pod + "}, volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			c := w.child(tc.object)
			if name == "ConfigMap" {
				c = w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}, data: {k: v}}")
			}
			c.ensured()
			_, requests := c.ensured()
			expect(t, tc.reason+"; again at once", requests, "")
			c.seen()
			_, requests = c.ensured()
			expect(t, tc.reason+"; when the watch shows it", requests, "")
			_, requests = c.restarted().ensured()
			expect(t, tc.reason+"; after a restart", requests, "")
		})
	}
}

func TestDefaultsAreNoDriftAfterAnApply(t *testing.T) {
	c := newWorld(t).child(deployment)
	c.ensured()
	c.desired.SetLabels(map[string]string{"x": "y"})
	c.converged()
	_, requests := c.restarted().ensured()
	expect(t, "an applied Deployment after a restart", requests, "")
}

func TestStatusWritesOfControllersAreNoDrift(t *testing.T) {
	c := newWorld(t).child(deployment)
	c.ensured()
	c.edit("{status: {observedGeneration: 1, replicas: 1}}", "status")
	_, requests := c.ensured()
	expect(t, "another's status", requests, "")
}

func TestAnUnknownHashFormatAloneCausesNoWrite(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.ensured()
	later := "2:hash-of-later:" + testKey.mac("2", w.owner.UID, c.id, false)
	c.edit("{metadata: {annotations: {" + resource.AppliedAnnotation + ": '" + later + "'}}}")
	next := c.restarted()
	_, requests := next.ensured()
	expect(t, "after a roll-back", requests, "")
	next.want(configMap("{k: w}"))
	next.ensured()
	if got := dataOf(c.live())["k"]; got != "w" {
		t.Errorf("data %q: a change must not be overlooked for want of a hash", got)
	}
}

func TestAVersionIsAnAttribute(t *testing.T) {
	c := newWorld(t).child("{apiVersion: writer.example.com/v1, kind: Thing, metadata: {name: a}, spec: {x: 1, y: 1}}")
	out, _ := c.ensured()
	c.want("{apiVersion: writer.example.com/v2, kind: Thing, metadata: {name: a}, spec: {x: 2}}")
	c.version = "v2"
	again, requests := c.ensured()
	expect(t, "a change of apiVersion", requests, "migrate apply")
	if out.Live.Object.GetUID() != again.Live.Object.GetUID() {
		t.Error("the object was replaced")
	}
	spec, _, _ := unstructured.NestedMap(c.live().Object, "spec")
	if diff := cmp.Diff(map[string]any{"x": int64(2)}, spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	_, requests = c.restarted().ensured()
	expect(t, "after a restart", requests, "")
}

func TestLostAcknowledgementOfCreate(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	w.wire.lose = "create"
	_, f, requests := c.ensure()
	expect(t, "an answer that was lost", requests, "create")
	if f == nil || f.Class != Retriable {
		t.Fatalf("failure %v, want a retriable one", f)
	}
	_, requests = c.ensured()
	expect(t, "the next attempt finds its own object", requests, "create get")
	_, requests = c.ensured()
	expect(t, "and is settled", requests, "")
}

func TestLostAcknowledgementOfApply(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.ensured()
	for i, op := range []string{"migrate", "apply", "apply"} {
		c.want(configMap(fmt.Sprintf("{k: '%d'}", i)))
		w.wire.lose = op
		if _, f, _ := c.ensure(); f == nil || f.Class != Retriable {
			t.Fatalf("failure %v after a lost %s", f, op)
		}
		for range 3 {
			if _, f, _ := c.ensure(); f == nil {
				break
			}
		}
		if got := dataOf(c.live())["k"]; got != fmt.Sprint(i) {
			t.Errorf("after a lost %s: data %q", op, got)
		}
	}
	c.seen()
	_, requests := c.ensured()
	expect(t, "settled in the end", requests, "")
}
