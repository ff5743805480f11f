package observer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestStoredObjectIsTheObjectWithoutManagedFields(t *testing.T) {
	for name := range owned {
		t.Run(name, func(t *testing.T) {
			in, untouched := readAnswer(t, name), readAnswer(t, name)
			want := readAnswer(t, name)
			unstructured.RemoveNestedField(want.Object, "metadata", "managedFields")
			b := newBench(t, Key{})
			got := b.store.Observe(in)
			if diff := cmp.Diff(want.Object, got.Object.Object); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(untouched.Object, in.Object); diff != "" {
				t.Errorf("the caller's object was modified: %s", diff)
			}
			if got.Fields.Digest() != FieldsOf(in.Object, DefaultManager).Digest() {
				t.Error("the fields are those of the object")
			}
		})
	}
}

func TestEqualLabelsAreSharedAndDifferentOnesAreNot(t *testing.T) {
	b := newBench(t, Key{})
	labels := func(name string, pairs ...string) map[string]any {
		item := b.store.Observe(object(name, name, "5", pairs...))
		l, _, _ := unstructured.NestedFieldNoCopy(item.Object.Object, "metadata", "labels")
		return l.(map[string]any)
	}
	first := labels("a", "k", "v", "m", "n")
	for name, c := range map[string]struct {
		pairs []string
		want  map[string]any
	}{
		"b": {[]string{"m", "n", "k", "v"}, map[string]any{"k": "v", "m": "n"}},
		"c": {[]string{"k", "v", "m", "o"}, map[string]any{"k": "v", "m": "o"}},
		"d": {[]string{"k", "v\x00m", "n", "n"}, map[string]any{"k": "v\x00m", "n": "n"}},
	} {
		if diff := cmp.Diff(c.want, labels(name, c.pairs...)); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(map[string]any{"k": "v", "m": "n"}, first); diff != "" {
		t.Errorf("the shared map was modified: %s", diff)
	}
}

func TestMetadataIsKeptAsFarAsAsked(t *testing.T) {
	in := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Namespace: "ns", UID: "u", ResourceVersion: "5", Labels: map[string]string{"l": "v"},
		Annotations:     map[string]string{"keep": "it", lastAppliedAnnotation: "large"},
		OwnerReferences: []metav1.OwnerReference{{UID: "o"}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "x"}},
	}}
	cases := map[string]struct {
		slim   bool
		labels map[string]string
		notes  map[string]string
		reason string
	}{
		"metadata": {false, map[string]string{"l": "v"}, map[string]string{"keep": "it"}, "all but managedFields and kubectl's copy"},
		"slim":     {true, nil, nil, "what tells objects apart"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tr := New(nil, Options{}).transform
			r, err := tr.record(in, schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, c.slim)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.labels, r.GetLabels()); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
			if diff := cmp.Diff(c.notes, r.GetAnnotations()); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
			if r.GetKind() != "Secret" || r.GetUID() != "u" || len(r.GetOwnerReferences()) != 1 || r.GetManagedFields() != nil {
				t.Errorf("got %v", r.Object)
			}
		})
	}
	if len(in.Annotations) != 2 || len(in.ManagedFields) != 1 {
		t.Error("the caller's object was modified")
	}
}
