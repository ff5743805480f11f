package observer_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/observer"
)

// pair records and makes a and b, where b needs a.
func (s *stage) pair(o *resource.Owner) (a, b *unstructured.Unstructured) {
	s.t.Helper()
	s.record(o, s.entry("a"), s.entry("b", 0))
	made := s.make(o, "a", "b")
	return made[0], made[1]
}

func orderPlays() []play {
	return append(teardownPlays(), placePlays()...)
}

func teardownPlays() []play {
	return []play{{
		name: "teardown in reverse", reason: "b needs a and went first",
		do: func(s *stage) {
			o := s.owner("o")
			a, b := s.pair(o)
			s.ending(o)
			s.remove(b)
			s.remove(a)
		},
	}, {
		name: "teardown forwards", reason: "b needs a and was still there",
		do: func(s *stage) {
			o := s.owner("o")
			a, b := s.pair(o)
			s.ending(o)
			s.remove(a)
			s.remove(b)
		},
		want: []observer.Invariant{observer.ReverseOrder},
	}, {
		name: "teardown under what only terminates", reason: "b has a finalizer: it is being deleted and not gone",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"), s.entry("b", 0))
			a := s.make(o, "a")[0]
			b := s.child(o, "b")
			b.SetFinalizers([]string{"test.truss.dev/keep"})
			b = s.create(s.truss, configMaps, b)
			s.ending(o)
			s.remove(b)
			s.remove(a)
			_, _ = s.admin.Resource(configMaps).Namespace(s.namespace).Patch(s.t.Context(), "b", types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		},
		want: []observer.Invariant{observer.ReverseOrder},
	}, {
		name: "deletion by somebody else", reason: "the administrator began it, not Truss",
		do: func(s *stage) {
			o := s.owner("o")
			s.pair(o)
			_ = s.admin.Resource(configMaps).Namespace(s.namespace).Delete(s.t.Context(), "a", metav1.DeleteOptions{})
		},
	}, {
		name: "prune forwards", reason: "both left the plan, and b needed a",
		do: func(s *stage) {
			o := s.owner("o")
			a, b := s.pair(o)
			o.Generation = 2
			s.record(o, s.entry("c"))
			s.make(o, "c")
			s.remove(a)
			s.remove(b)
		},
		want: []observer.Invariant{observer.ReverseOrder},
	}, {
		name: "prune below what stays", reason: "b stays and needs a no more",
		do: func(s *stage) {
			o := s.owner("o")
			a, _ := s.pair(o)
			o.Generation = 2
			s.record(o, s.entry("b"))
			s.remove(a)
		},
	}, {
		name: "the newest plan decides", reason: "a needs b since generation 2",
		do: func(s *stage) {
			o := s.owner("o")
			a, b := s.pair(o)
			o.Generation = 2
			s.record(o, s.entry("b"), s.entry("a", 0))
			s.ending(o)
			s.remove(a)
			s.remove(b)
		},
	}, {
		name: "deletion of what is planned", reason: "the owner lives and b needs a",
		do: func(s *stage) {
			a, _ := s.pair(s.owner("o"))
			s.remove(a)
		},
		want: []observer.Invariant{observer.ReverseOrder},
	}, {
		name: "replacement for an immutable field", reason: "the author allowed it",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"), s.entry("b", 0))
			a := s.create(s.truss, configMaps, annotated(s.child(o, "a"), resource.OnImmutableAnnotation, "recreate"))
			s.make(o, "b")
			s.remove(a)
			s.make(o, "a")
		},
	}, {
		name: "teardown below what was detached", reason: "b is its user's now",
		do: func(s *stage) {
			o := s.owner("o")
			a, b := s.pair(o)
			s.ending(o)
			s.patched("b", types.MergePatchType, `{"metadata":{"uid":"`+string(b.GetUID())+
				`","labels":{"truss.dev/owner":null},"annotations":{"truss.dev/applied":null}}}`)
			s.remove(a)
		},
	}}
}

func placePlays() []play {
	return []play{{
		name: "object in another namespace", reason: "the owner's namespace is not default",
		do: func(s *stage) {
			o := s.owner("o")
			e := s.entry("a-" + string(o.UID))
			e.Namespace = "default"
			s.record(o, e)
			u := s.child(o, e.Name)
			u.SetNamespace("default")
			s.create(s.truss, configMaps, u)
		},
		want: []observer.Invariant{observer.Confinement},
	}, {
		name: "object without namespace", reason: "a Bundle makes nothing cluster-wide",
		do: func(s *stage) {
			o := s.owner("o")
			e := inventory.Entry{
				Identity: resource.Identity{Group: "scheduling.k8s.io", Kind: "PriorityClass", Name: "p-" + string(o.UID)},
				Version:  "v1", Resource: "priorityclasses",
			}
			s.record(o, e)
			u := s.child(o, e.Name)
			u.SetAPIVersion("scheduling.k8s.io/v1")
			u.SetKind("PriorityClass")
			u.SetNamespace("")
			u.Object["value"] = int64(1)
			s.create(s.truss, schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"}, u)
		},
		want: []observer.Invariant{observer.Confinement},
	}}
}
