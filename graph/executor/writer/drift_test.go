package writer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph/resource"
)

func TestDriftByUpdateIsSetBack(t *testing.T) {
	cases := map[string]struct{ reason, edit string }{
		"Value":   {"A value that was edited", "{data: {k: edited}}"},
		"Removed": {"A field that was removed", "{data: {k: null}}"},
		"Label":   {"The label that the watch selects by", "{metadata: {labels: {truss.dev/manager: null}}}"},
		"Owner":   {"The owner's reference", "{metadata: {ownerReferences: null}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newWorld(t).child(configMap("{k: v}"))
			c.ensured()
			want := c.live()
			c.edit(tc.edit)
			_, requests := c.ensured()
			if !strings.HasSuffix(requests, "get migrate apply") {
				t.Errorf("%s: requests %q, want one look, and a first change", tc.reason, requests)
			}
			c.seen()
			_, requests = c.ensured()
			expect(t, tc.reason+": settled", requests, "")
			got := c.live()
			for _, u := range []*unstructured.Unstructured{want, got} {
				u.SetManagedFields(nil)
				u.SetResourceVersion("")
			}
			if diff := cmp.Diff(want.Object, got.Object); diff != "" {
				t.Errorf("%s is not set back (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDriftBelowACoveredListOrMapIsSeen(t *testing.T) {
	thing := "{apiVersion: writer.example.com/v1, kind: Thing, metadata: {name: a}, spec: {m: {n: {k: v}}, l: [a, {b: c}]}}"
	cases := map[string]struct{ reason, edit string }{
		"Emptied": {"The last key of a map", "{spec: {m: {n: {k: null}}}}"},
		"Edited":  {"The only key of a map", "{spec: {m: {n: {k: x}}}}"},
		"List":    {"A list without keys is owned whole", "{spec: {l: [a, {b: d}]}}"},
		"Shorter": {"The same, shorter", "{spec: {l: [a]}}"},
		"Gone":    {"The same, gone", "{spec: {l: null}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newWorld(t).child(thing)
			c.ensured()
			c.edit(tc.edit)
			c.ensured()
			if diff := cmp.Diff(c.desired.Object["spec"], c.live().Object["spec"]); diff != "" {
				t.Errorf("%s is not set back (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDriftAfterAnApplyCostsOneLookAndOneWrite(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.ensured()
	c.want(configMap("{k: w}"))
	c.ensured()
	c.edit("{data: {k: edited, theirs: x}}")
	_, requests := c.ensured()
	expect(t, "drift", requests, "get apply")
	if diff := cmp.Diff(map[string]string{"k": "w", "theirs": "x"}, dataOf(c.live())); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	next := c.restarted()
	c.edit("{data: {k: edited}}")
	next.seen()
	_, requests = next.ensured()
	expect(t, "drift while nobody looked", requests, "get apply")
}

func TestFieldOfAnotherApplyManagerIsLeftAndReported(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v, l: v}"))
	c.ensured()
	c.applied("rival", configMap("{k: theirs}"))
	out, requests := c.ensured()
	expect(t, "one look", requests, "get migrate")
	if len(out.Conflicts) != 1 || out.Conflicts[0].Manager != "rival" || out.Conflicts[0].Path.String() != ".data.k" {
		t.Errorf("conflicts %v, want the path and the manager", out.Conflicts)
	}
	_, requests = c.ensured()
	expect(t, "settled", requests, "")

	c.want(configMap("{k: v2, l: v2}"))
	out, _ = c.ensured()
	if diff := cmp.Diff(map[string]string{"k": "theirs", "l": "v2"}, dataOf(c.live())); diff != "" {
		t.Errorf("a change (-want +got):\n%s", diff)
	}
	if len(out.Conflicts) != 1 {
		t.Errorf("conflicts %v after a change", out.Conflicts)
	}
	out, requests = c.ensured()
	expect(t, "settled", requests, "")
	if len(out.Conflicts) != 1 {
		t.Error("the conflict is not reported any more")
	}

	forced := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {truss.dev/force-conflicts: 'true'}}, data: {k: v3, l: v3}}"
	c.want(forced)
	out, _ = c.ensured()
	if diff := cmp.Diff(map[string]string{"k": "v3", "l": "v3"}, dataOf(c.live())); diff != "" || len(out.Conflicts) > 0 {
		t.Errorf("forced, conflicts %v (-want +got):\n%s", out.Conflicts, diff)
	}
}

func TestFieldSharedWithAnotherApplyManagerIsNotTaken(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v, a.b: v}"))
	c.ensured()
	c.want(configMap("{k: w, a.b: w}"))
	c.ensured()
	c.applied("rival", configMap("{k: w, a.b: w}"))
	_, requests := c.ensured()
	expect(t, "equal values are no conflict", requests, "")
	c.want(configMap("{k: x, a.b: x, l: x}"))
	out, _ := c.ensured()
	if diff := cmp.Diff(map[string]string{"k": "w", "a.b": "w", "l": "x"}, dataOf(c.live())); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if len(out.Conflicts) != 2 {
		t.Errorf("conflicts %v, want both fields", out.Conflicts)
	}
}

func TestScaleSubresourceIsRespected(t *testing.T) {
	w := newWorld(t)
	c := w.child(deployment)
	c.ensured()
	c.edit("{spec: {replicas: 3}}", "scale")
	out := c.converged()
	if len(out.Conflicts) != 1 || out.Conflicts[0].Subresource != "scale" || out.Conflicts[0].Path.String() != ".spec.replicas" {
		t.Errorf("conflicts %v", out.Conflicts)
	}
	c.desired.SetLabels(map[string]string{"x": "y"})
	c.converged()
	if n, _, _ := unstructured.NestedInt64(c.live().Object, "spec", "replicas"); n != 3 {
		t.Errorf("%d replicas after a change of something else, want 3", n)
	}
	c.edit("{spec: {template: {spec: {containers: [{name: c, image: edited}]}}}}")
	c.converged()
	containers, _, _ := unstructured.NestedSlice(c.live().Object, "spec", "template", "spec", "containers")
	if image := containers[0].(map[string]any)["image"]; image != "i" {
		t.Errorf("image %q, want what was applied", image)
	}
	if n, _, _ := unstructured.NestedInt64(c.live().Object, "spec", "replicas"); n != 3 {
		t.Errorf("%d replicas after drift of something else, want 3", n)
	}
}

func TestAStampThatWasEditedIsWrittenAgain(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.ensured()
	_, ours := testKey.Verify(w.owner.UID, c.id, c.live().GetAnnotations()[resource.AppliedAnnotation])
	edited := stampFormat + ":other:" + testKey.mac(stampFormat, w.owner.UID, c.id, false)
	c.edit("{metadata: {annotations: {" + resource.AppliedAnnotation + ": '" + edited + "'}}}")
	c.ensured()
	stamp, still := testKey.Verify(w.owner.UID, c.id, c.live().GetAnnotations()[resource.AppliedAnnotation])
	if !ours || !still || stamp.Hash == "other" {
		t.Errorf("stamp %+v, ours %t then %t", stamp, ours, still)
	}
	_, requests := c.restarted().ensured()
	expect(t, "settled", requests, "")
}

func TestAtMostOneWritePerStateThenNotConverging(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.ensured()
	c.want(configMap("{k: w}"))
	c.ensured()
	c.edit("{data: {k: undone}}")
	_, requests := c.ensured()
	expect(t, "drift", requests, "get apply")
	for range 3 {
		c.edit("{data: {k: undone}}")
		_, f, requests := c.ensure()
		expect(t, "the same drift again", requests, "")
		if f == nil || f.Reason != ReasonNotConverging || f.Class != Retriable {
			t.Fatalf("failure %v", f)
		}
	}
	w.skew = repeatMin
	_, requests = c.ensured()
	expect(t, "a while later", requests, "get apply")
	c.edit("{data: {k: undone}}")
	w.skew += repeatMin
	_, _, requests = c.ensure()
	expect(t, "the pauses grow", requests, "")
	w.skew += time.Hour
	_, requests = c.ensured()
	expect(t, "much later", requests, "get apply")
}

func TestAnObjectThatWasReplacedIsNotOurs(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	c.ensured()
	w.replace(c)
	c.want(configMap("{k: w}"))
	_, f, requests := c.ensure() // the watch has not shown it yet
	if f == nil || f.Class != Retriable || strings.Contains(requests, "create") {
		t.Errorf("failure %v by %q: the apply carries the old UID", f, requests)
	}
	if got := dataOf(c.live())["k"]; got != "theirs" {
		t.Errorf("data %q of an object that is not ours", got)
	}
	c.seen()
	collides(t, c, ReasonCollision)
}
