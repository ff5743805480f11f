package observer_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/observer"
)

// play is one thing that Truss may do, and what the observer has to say.
type play struct {
	name, reason string
	do           func(s *stage)
	want         []observer.Invariant
}

func TestEveryBrokenPromiseIsSeen(t *testing.T) {
	for _, p := range plays() {
		t.Run(p.name, func(t *testing.T) { p.perform(t, plane, watching) })
	}
}

// TestTheDefaultPolicyHidesOnlyWhatPatchesSay runs the same plays where the
// bodies of patches are not logged.
func TestTheDefaultPolicyHidesOnlyWhatPatchesSay(t *testing.T) {
	hidden := []string{"apply without UID", "JSON patch without guard", "apply for another owner"}
	plain := controlplanetest.Start(t, controlplane.Options{})
	if err := install(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	o, err := observe(t.Context(), plain, observer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Stop()
	for _, p := range plays() {
		if slices.Contains(hidden, p.name) {
			p.want, p.reason = nil, "only the body of the patch tells"
		}
		t.Run(p.name, func(t *testing.T) { p.perform(t, plain, o) })
	}
}

func (p *play) perform(t *testing.T, on *controlplane.Plane, o *observer.Observer) {
	t.Helper()
	s := newStage(t, on, o)
	p.do(s)
	if diff := cmp.Diff(p.want, s.violations()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", p.reason, diff)
	}
}

func plays() []play {
	return append(append(gatePlays(), touchPlays()...), orderPlays()...)
}

func gatePlays() []play {
	return []play{{
		name: "in order", reason: "the need was there, and a ConfigMap is Ready when it is there",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"), s.entry("b", 0))
			s.make(o, "a", "b")
		},
	}, {
		name: "dependant first", reason: "b needs a, which did not exist yet",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"), s.entry("b", 0))
			s.make(o, "b", "a")
		},
		want: []observer.Invariant{observer.Gate},
	}, {
		name: "need not ready", reason: "a Pod that no node runs is there, but not Ready",
		do: func(s *stage) {
			o := s.owner("o")
			a := s.entry("a")
			a.Kind, a.Resource = "Pod", "pods"
			s.record(o, a, s.entry("b", 0))
			s.create(s.truss, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, s.pod(o, "a"))
			s.make(o, "b")
		},
		want: []observer.Invariant{observer.Gate},
	}, {
		name: "not recorded", reason: "after a crash nobody would know of b",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			s.make(o, "a", "b")
		},
		want: []observer.Invariant{observer.Inventory},
	}, {
		name: "recorded too late", reason: "the record came after the object",
		do: func(s *stage) {
			o := s.owner("o")
			s.make(o, "a")
			s.record(o, s.entry("a"))
		},
		want: []observer.Invariant{observer.Inventory},
	}, {
		name: "without owner", reason: "an object of Truss's without a label is nobody's",
		do:   func(s *stage) { s.make(nil, "a") },
		want: []observer.Invariant{observer.Inventory},
	}, {
		name: "created anew after somebody deleted it", reason: "the deletion is in the log",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			s.make(o, "a")
			_ = s.admin.Resource(configMaps).Namespace(s.namespace).Delete(s.t.Context(), "a", metav1.DeleteOptions{})
			s.make(o, "a")
		},
	}}
}

func touchPlays() []play {
	return []play{{
		name: "apply to its own", reason: "Truss made it, and names the UID",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			uid := s.make(o, "a")[0].GetUID()
			s.applied(withUID(s.child(o, "a"), uid))
		},
	}, {
		name: "apply to a stranger's", reason: "the object is somebody else's",
		do: func(s *stage) {
			o := s.owner("o")
			uid := s.create(s.admin, configMaps, s.child(nil, "a")).GetUID()
			s.applied(withUID(s.child(o, "a"), uid))
		},
		want: []observer.Invariant{observer.ForeignTouch},
	}, {
		name: "adoption", reason: "the author asked for it",
		do: func(s *stage) {
			o := s.owner("o")
			uid := s.create(s.admin, configMaps, s.child(nil, "a")).GetUID()
			s.applied(withUID(annotated(s.child(o, "a"), resource.AdoptAnnotation, "true"), uid))
		},
	}, {
		name: "deletion of what was adopted", reason: "it is to be detached",
		do: func(s *stage) {
			o := s.owner("o")
			made := s.create(s.admin, configMaps, s.child(nil, "a"))
			s.applied(withUID(annotated(s.child(o, "a"), resource.AdoptAnnotation, "true"), made.GetUID()))
			s.remove(made)
		},
		want: []observer.Invariant{observer.ForeignTouch},
	}, {
		name: "apply for another owner", reason: "the object was made for p",
		do: func(s *stage) {
			o, p := s.owner("o"), s.owner("p")
			s.record(p, s.entry("a"))
			uid := s.make(p, "a")[0].GetUID()
			s.applied(withUID(s.child(o, "a"), uid))
		},
		want: []observer.Invariant{observer.ForeignTouch},
	}, {
		name: "apply without UID", reason: "it may hit another object of that name",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			s.make(o, "a")
			s.applied(s.child(o, "a"))
		},
		want: []observer.Invariant{observer.Precondition},
	}, {
		name: "creation by apply", reason: "it would have adopted what is there",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			s.applied(s.child(o, "a"))
		},
		want: []observer.Invariant{observer.Precondition},
	}, {
		name: "replacement", reason: "a PUT takes other writers' fields away",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			made := s.make(o, "a")[0]
			do[*unstructured.Unstructured](s.t)(s.truss.Resource(configMaps).Namespace(s.namespace).Update(s.t.Context(), made, metav1.UpdateOptions{}))
		},
		want: []observer.Invariant{observer.Precondition},
	}, {
		name: "JSON patch guarded by version", reason: "this is how the first apply is prepared",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			made := s.make(o, "a")[0]
			s.patched("a", types.JSONPatchType, `[{"op":"replace","path":"/metadata/resourceVersion","value":"`+made.GetResourceVersion()+`"}]`)
		},
	}, {
		name: "JSON patch without guard", reason: "the index may belong to another object",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			s.make(o, "a")
			s.patched("a", types.JSONPatchType, `[{"op":"add","path":"/data","value":{}}]`)
		},
		want: []observer.Invariant{observer.Precondition},
	}, {
		name: "deletion without UID", reason: "it may hit another object of that name",
		do: func(s *stage) {
			o := s.owner("o")
			s.record(o, s.entry("a"))
			s.make(o, "a")
			_ = s.truss.Resource(configMaps).Namespace(s.namespace).Delete(s.t.Context(), "a", metav1.DeleteOptions{})
		},
		want: []observer.Invariant{observer.Precondition},
	}, {
		name: "deletion of a collection", reason: "it hits whatever is there",
		do: func(s *stage) {
			_ = s.truss.Resource(configMaps).Namespace(s.namespace).DeleteCollection(s.t.Context(), metav1.DeleteOptions{},
				metav1.ListOptions{LabelSelector: resource.OwnerLabel + "=x"})
		},
		want: []observer.Invariant{observer.Precondition},
	}, {
		name: "status of what is no owner", reason: "Truss writes the status of owners only",
		do: func(s *stage) {
			uid := s.create(s.admin, configMaps, s.child(nil, "a")).GetUID()
			u := withUID(s.child(nil, "a"), uid)
			_, _ = s.truss.Resource(configMaps).Namespace(s.namespace).Apply(s.t.Context(), "a", u, metav1.ApplyOptions{FieldManager: "truss-owner", Force: true})
		},
		want: []observer.Invariant{observer.ForeignTouch},
	}}
}
