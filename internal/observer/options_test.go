package observer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/observer"
)

func TestStartNamesWhatIsMissing(t *testing.T) {
	controlplanetest.Need(t, plane)
	good := observer.Options{Config: plane.AdminConfig(), AuditLog: plane.AuditLogPath(), Users: []string{truss}}
	for name, spoil := range map[string]func(*observer.Options){
		"no configuration": func(o *observer.Options) { o.Config = nil },
		"no log named":     func(o *observer.Options) { o.AuditLog = "" },
		"no such log":      func(o *observer.Options) { o.AuditLog += ".not" },
		"nobody":           func(o *observer.Options) { o.Users = nil },
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			spoil(&o)
			if _, err := observer.Start(t.Context(), o); err == nil {
				t.Error("it must not start: it would see nothing wrong for ever")
			}
		})
	}
}

// With Exclusions a need that never existed may be one that renders nothing.
func TestExclusionsAllowWhatATemplateMayLeaveOut(t *testing.T) {
	controlplanetest.Need(t, plane)
	lenient, err := observe(t.Context(), plane, observer.Options{Exclusions: true})
	if err != nil {
		t.Fatal(err)
	}
	defer lenient.Stop()
	s := newStage(t, plane, lenient)
	o := s.owner("o")
	s.record(o, s.entry("never"), s.entry("b", 0), s.entry("c", 1))
	b := s.make(o, "b", "c")[0]
	s.remove(b)
	if got := s.violations(); len(got) > 0 {
		t.Errorf("a need may be left out, before and after it was there: %q", got)
	}
	s.observer = watching
	want := []observer.Invariant{observer.Gate, observer.ReverseOrder}
	if diff := cmp.Diff(want, s.violations()); diff != "" {
		t.Errorf("without Exclusions the same is wrong (-want +got):\n%s", diff)
	}
}

func TestOnlyTheKindsThatWereAskedForAreWatched(t *testing.T) {
	controlplanetest.Need(t, plane)
	few, err := observe(t.Context(), plane, observer.Options{Kinds: []schema.GroupVersionResource{bundles}})
	if err != nil {
		t.Fatal(err)
	}
	defer few.Stop()
	s := newStage(t, plane, few)
	o := s.owner("o")
	s.record(o, s.entry("a"), s.entry("b", 0))
	s.make(o, "b")
	if got := s.violations(); len(got) > 0 {
		t.Errorf("what was not watched must not be judged: %q", got)
	}
	err = s.truss.Resource(configMaps).Namespace(s.namespace).Delete(t.Context(), "b", metav1.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]observer.Invariant{observer.Precondition}, s.violations()); diff != "" {
		t.Errorf("what the log alone tells is judged (-want +got):\n%s", diff)
	}
}
