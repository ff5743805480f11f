package writer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
)

// collides checks that an object is left exactly as it was.
func collides(t *testing.T, c *child, reason string) {
	t.Helper()
	before := c.live()
	_, f, _ := c.ensure()
	if f == nil || f.Class != Terminal || f.Reason != reason {
		t.Errorf("failure %v, want a terminal %s", f, reason)
	}
	if diff := cmp.Diff(before.Object, c.live().Object); diff != "" {
		t.Errorf("the object was touched (-before +after):\n%s", diff)
	}
}

func TestNothingIsAdoptedByAccident(t *testing.T) {
	w := newWorld(t)
	c := w.child(configMap("{k: v}"))
	w.post(configMap("{theirs: x}"))
	_, f, requests := c.ensure()
	expect(t, "a foreign object of that name", requests, "create get")
	if f == nil || f.Reason != ReasonCollision {
		t.Fatalf("failure %v", f)
	}
	collides(t, c, ReasonCollision)
}

func TestForgedLabelsAndOwnerReferencesAreNotOurs(t *testing.T) {
	w := newWorld(t)
	mine := w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}}")
	mine.ensured()
	stamp := mine.live().GetAnnotations()[resource.AppliedAnnotation]
	cases := map[string]struct{ reason, stamp string }{
		"Labels":    {"Labels and ownerReferences can be set by anyone who may patch", ""},
		"Guessed":   {"A hash without a MAC", "1:hash:mac"},
		"Copied":    {"The stamp of another object", stamp},
		"OtherUIDs": {"The stamp of another owner for the same object", testKey.Sign("other", resource.Identity{Kind: "ConfigMap", Namespace: w.namespace, Name: "otheruids"}, Stamp{})},
		"OtherKeys": {"The stamp of another installation", Key("another key").Sign(w.owner.UID, resource.Identity{Kind: "ConfigMap", Namespace: w.namespace, Name: "otherkeys"}, Stamp{})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := w.child("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + lower(name) + "}, data: {k: v}}")
			forged := parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+lower(name)+"}, data: {theirs: x}}")
			forged.SetLabels(w.owner.Labels())
			forged.SetOwnerReferences([]metav1.OwnerReference{w.owner.Reference(true)})
			forged.SetAnnotations(map[string]string{resource.AppliedAnnotation: tc.stamp})
			_, err := w.others.Resource(configMaps).Namespace(w.namespace).Create(w.ctx, forged, metav1.CreateOptions{})
			w.must(err)
			c.seen()
			collides(t, c, ReasonCollision)
			before := c.live()
			out, f, requests := c.remove(true)
			expect(t, tc.reason+": no DELETE without proof", requests, "get")
			if f != nil || !out.Gone || !out.Kept {
				t.Errorf("removal %+v, %v", out, f)
			}
			if diff := cmp.Diff(before.Object, c.live().Object); diff != "" {
				t.Errorf("the object was touched (-before +after):\n%s", diff)
			}
		})
	}
}

func lower(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] |= 0x20
	}
	return string(b)
}

func adopting(mode, data string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {truss.dev/adopt: '" + mode + "'}}, data: " + data + "}"
}

func TestAdoptionIsExplicitAndDetachedAtTeardown(t *testing.T) {
	w := newWorld(t)
	made := w.post(configMap("{k: theirs, kept: x}"))
	c := w.child(adopting("true", "{k: v}"))
	out, _ := c.ensured()
	live := c.live()
	if live.GetUID() != made.GetUID() || out.Created {
		t.Error("the object was replaced")
	}
	if diff := cmp.Diff(map[string]string{"k": "v", "kept": "x"}, dataOf(live)); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	_, requests := c.restarted().ensured()
	expect(t, "settled after a restart", requests, "")
	c.want(adopting("true", "{k: w}"))
	_, requests = c.ensured()
	expect(t, "an adopted object was applied before", requests, "apply")

	gone, f, requests := c.remove(true)
	expect(t, "teardown detaches", requests, "get patch")
	if f != nil || !gone.Gone || !gone.Kept {
		t.Errorf("removal %+v, %v", gone, f)
	}
	live = c.live()
	if len(live.GetOwnerReferences()) > 0 || len(live.GetLabels()) > 0 || live.GetAnnotations()[resource.AppliedAnnotation] != "" {
		t.Errorf("what is left has traces of its owner: %v", live.Object["metadata"])
	}
}

func TestAdoptionMayEndInDeletion(t *testing.T) {
	w := newWorld(t)
	for _, first := range []string{"delete", "true"} {
		w.post(configMap("{k: theirs}"))
		c := w.child(adopting(first, "{k: v}"))
		c.ensured()
		c.want(adopting("delete", "{k: v}"))
		c.ensured()
		out, f, requests := c.remove(true)
		expect(t, "adopted with "+first+", then delete", requests, "get delete")
		if f != nil || !out.Gone || out.Kept {
			t.Errorf("removal %+v, %v", out, f)
		}
	}
}

func TestWhatAnotherControllerHasIsNotAdopted(t *testing.T) {
	w := newWorld(t)
	other := w.newOwner("other")
	theirs := parse(t, configMap("{k: theirs}"))
	theirs.SetOwnerReferences([]metav1.OwnerReference{other.Reference(true)})
	_, err := w.others.Resource(configMaps).Namespace(w.namespace).Create(w.ctx, theirs, metav1.CreateOptions{})
	w.must(err)
	collides(t, w.child(adopting("true", "{k: v}")), ReasonAdoptionRefused)
}

func TestAdoptionDecidesOnTheNewestState(t *testing.T) {
	w := newWorld(t)
	other := w.newOwner("other")
	w.post(configMap("{k: theirs}"))
	c := w.child(adopting("true", "{k: v}"))
	c.desired.SetLabels(map[string]string{"x": "y"})
	reads := 0
	taken := func() {
		reads++
		live := c.live()
		live.SetOwnerReferences([]metav1.OwnerReference{other.Reference(true)})
		_, err := w.others.Resource(configMaps).Namespace(w.namespace).Update(w.ctx, live, metav1.UpdateOptions{})
		w.must(err)
	}
	r, err := c.request()
	w.must(err)
	stale := c.store.Observe(c.live())
	r.Live = &stale
	w.wire.before = map[string]func(){"get": taken}
	_, f := w.writer.Ensure(w.ctx, r)
	if reads != 1 || f == nil || f.Reason != ReasonAdoptionRefused {
		t.Errorf("failure %v after %d reads: a controller that came meanwhile keeps its object", f, reads)
	}
}

func TestAForeignObjectThatIsGoingIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	theirs := parse(t, configMap("{k: theirs}"))
	theirs.SetFinalizers([]string{"example.com/slow"})
	_, err := w.others.Resource(configMaps).Namespace(w.namespace).Create(w.ctx, theirs, metav1.CreateOptions{})
	w.must(err)
	w.must(w.others.Resource(configMaps).Namespace(w.namespace).Delete(w.ctx, "a", metav1.DeleteOptions{}))
	c := w.child(configMap("{k: v}"))
	_, f, _ := c.ensure()
	if f == nil || f.Class != Waiting || f.Reason != ReasonTerminating {
		t.Fatalf("failure %v, want to wait", f)
	}
	_, err = w.others.Resource(configMaps).Namespace(w.namespace).
		Patch(w.ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	w.must(err)
	out, _ := c.ensured()
	if !out.Created {
		t.Error("the name is free, yet nothing was made")
	}
}
