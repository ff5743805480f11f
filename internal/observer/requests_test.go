package observer_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/truss-dev/truss/internal/observer"
)

var leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

func TestQuietListsWhatTrussSendsInTheWindow(t *testing.T) {
	s := newStage(t, plane, watching)
	for _, c := range []struct {
		name, reason string
		do           func()
		want         []string
	}{
		{"nothing", "nobody sends anything", func() {}, nil},
		{"a read", "a settled graph reads nothing", func() {
			_, _ = s.truss.Resource(configMaps).Namespace(s.namespace).List(t.Context(), metav1.ListOptions{})
		}, []string{"list configmaps"}},
		{"a lease", "leases are renewed all the time", func() {
			_, _ = s.truss.Resource(leases).Namespace(s.namespace).Get(t.Context(), "l", metav1.GetOptions{})
		}, nil},
		{"a watch", "watches are what a settled graph lives on", func() {
			w, err := s.truss.Resource(configMaps).Namespace(s.namespace).Watch(t.Context(), metav1.ListOptions{})
			if err == nil {
				w.Stop()
			}
		}, nil},
		{"somebody else", "the administrator is not Truss", func() {
			_, _ = s.admin.Resource(configMaps).Namespace(s.namespace).List(t.Context(), metav1.ListOptions{})
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Repeated all the time, so that it falls into the window.
			stop := repeat(c.do)
			requests, err := s.observer.Quiet(t.Context(), 300*time.Millisecond)
			stop()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range requests {
				got = append(got, r.Verb+" "+r.Resource)
			}
			got = slices.Compact(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// repeat does something every few milliseconds until it is stopped.
func repeat(do func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(20 * time.Millisecond)
		defer t.Stop()
		for {
			do()
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func TestRequestsAreCountedByVerbAndResource(t *testing.T) {
	g := NewWithT(t)
	s := newStage(t, plane, watching)
	since := time.Now()
	o := s.owner("o")
	s.record(o, s.entry("a"), s.entry("b"))
	made := s.make(o, "a", "b")
	s.applied(withUID(s.child(o, "a"), made[0].GetUID()))
	do[*unstructured.Unstructured](t)(s.truss.Resource(configMaps).Namespace(s.namespace).Apply(t.Context(), "c", s.child(o, "c"),
		metav1.ApplyOptions{FieldManager: "truss", DryRun: []string{metav1.DryRunAll}}))
	s.create(s.admin, configMaps, s.child(nil, "z"))
	s.settle()
	want := observer.Counts{
		{Verb: "create", Resource: "configmaps"}:                           2,
		{Verb: "patch", Resource: "configmaps"}:                            1,
		{Verb: "patch", Resource: "configmaps", DryRun: true}:              1,
		{Verb: "create", Group: "apps", Resource: "controllerrevisions"}:   1,
		{Verb: "patch", Group: "smith.atlassian.com", Resource: "bundles"}: 1,
	}
	all := s.observer.Requests(observer.Filter{Namespace: s.namespace})
	g.Expect(cmp.Diff(want, all)).To(BeEmpty())
	g.Expect(all.Total()).To(Equal(6))
	g.Expect(all.Verb("create", "", "configmaps")).To(Equal(2))
	g.Expect(s.observer.Requests(observer.Filter{Namespace: s.namespace, Verbs: []string{"create"}, Resource: "configmaps", Name: "a"}).Total()).To(Equal(1))
	g.Expect(s.observer.Requests(observer.Filter{Namespace: s.namespace, Until: since}).Total()).To(BeZero(), "nothing was sent before")
	g.Expect(s.observer.Requests(observer.Filter{Namespace: s.namespace, Users: []string{"truss-local-admin"}, Resource: "configmaps"}).Total()).To(Equal(1))
	g.Expect(s.observer.RequestsBy(since)).To(HaveLen(6))
	g.Expect(s.observer.RequestsBy(time.Now())).To(BeEmpty())
}

func TestRequestsAsSomebodyElseAreTruss(t *testing.T) {
	g := NewWithT(t)
	s := newStage(t, plane, watching)
	cfg := trussConfig(t, plane)
	cfg.Impersonate.UserName = "truss-local-admin"
	cfg.Impersonate.Groups = []string{"system:masters"}
	as, err := dynamic.NewForConfig(cfg)
	g.Expect(err).NotTo(HaveOccurred())
	since := time.Now()
	s.create(as, configMaps, s.child(nil, "a"))
	g.Expect(s.violations()).To(Equal([]observer.Invariant{observer.Inventory}), "it is judged like any other request of Truss")
	requests := s.observer.RequestsBy(since)
	g.Expect(requests).To(HaveLen(1))
	g.Expect(requests[0].User).To(Equal(truss))
	g.Expect(requests[0].As).To(Equal("truss-local-admin"))
}
