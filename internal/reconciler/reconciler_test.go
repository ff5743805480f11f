package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/truss-dev/truss/graph/executor"
	"github.com/truss-dev/truss/graph/resource"
)

const finalizer = "test.example.com/guard"

// stage is a reconciler over one ConfigMap that plays the owner; every call
// that it makes is noted.
type stage struct {
	*WithT
	r     *Reconciler[*corev1.ConfigMap]
	owner *corev1.ConfigMap
	calls []string
	clock time.Time

	report   executor.Report
	torn     executor.TeardownReport
	status   Status
	writeErr error
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{WithT: NewWithT(t), clock: time.Unix(1000, 0), owner: &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "owner", UID: "1", Generation: 1},
	}}
	s.r = New(kindOf{s}, Options{Reader: readerOf{s}, Executor: executorOf{s}, Writer: writerOf{s}, Recorder: recorderOf{s}})
	s.r.now = func() time.Time { return s.clock }
	return s
}

func (s *stage) note(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

// reconcile runs once and returns what was called.
func (s *stage) reconcile() ([]string, time.Duration) {
	s.calls = nil
	out, err := s.r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "owner"}})
	s.Expect(err).NotTo(HaveOccurred())
	return s.calls, out.RequeueAfter
}

// show makes the next report give a status.
func (s *stage) show(value string, urgent bool) {
	s.report.Stamp++
	s.status = Status{Object: value, Changed: true, Urgent: urgent}
}

type kindOf struct{ s *stage }

func (k kindOf) New() *corev1.ConfigMap { return &corev1.ConfigMap{} }
func (k kindOf) Owner(o *corev1.ConfigMap) *resource.Owner {
	return &resource.Owner{UID: o.UID, Kind: schema.GroupVersionKind{Kind: "Owner"}, Namespace: o.Namespace, Name: o.Name, Generation: o.Generation, Finalizer: finalizer}
}
func (k kindOf) Compile(*corev1.ConfigMap) (*resource.Graph, error) { return nil, errors.New("unused") }
func (k kindOf) Status(_ *corev1.ConfigMap, p Previous, _ *executor.Report) Status {
	k.s.note("project written=%v shown=%v", p.Written, p.Shown)
	return k.s.status
}
func (k kindOf) Deleting(*corev1.ConfigMap, Previous, *executor.TeardownReport) Status {
	return k.s.status
}

type readerOf struct{ s *stage }

func (r readerOf) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if r.s.owner == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "owners"}, key.Name)
	}
	r.s.owner.DeepCopyInto(into.(*corev1.ConfigMap)) //nolint:forcetypeassert // a test's own type
	return nil
}
func (r readerOf) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

type executorOf struct{ s *stage }

func (x executorOf) Reconcile(_ context.Context, _ *resource.Owner, fresh bool, _ executor.Compile) (*executor.Report, error) {
	x.s.note("walk fresh=%t", fresh)
	report := x.s.report
	return &report, nil
}
func (x executorOf) Teardown(context.Context, *resource.Owner) (*executor.TeardownReport, error) {
	x.s.note("teardown")
	return &x.s.torn, nil
}
func (x executorOf) Forget(uid types.UID) { x.s.note("forget %s", uid) }

type writerOf struct{ s *stage }

func (w writerOf) Guard(context.Context, *resource.Owner) error {
	w.s.note("guard")
	return w.s.writeErr
}
func (w writerOf) Status(_ context.Context, _ *resource.Owner, status any) error {
	w.s.note("status %v", status)
	return w.s.writeErr
}
func (w writerOf) Release(_ context.Context, _ *resource.Owner, finalizers []string, _ string) error {
	w.s.note("release %v", finalizers)
	return w.s.writeErr
}

type recorderOf struct{ s *stage }

func (r recorderOf) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.s.note("event %s %s %s", kind, reason, fmt.Sprintf(note, args...))
}

func TestFinalizerComesBeforeTheFirstWalkAndIsWrittenOnce(t *testing.T) {
	s := newStage(t)
	calls, _ := s.reconcile()
	s.Expect(calls[:2]).To(Equal([]string{"guard", "walk fresh=true"}), "nothing of a new owner can exist")
	calls, _ = s.reconcile()
	s.Expect(calls).NotTo(ContainElement("guard"), "the cache does not show the finalizer yet, but it is there")
	s.owner.Finalizers = []string{finalizer}
	s.reconcile()
	s.owner.Finalizers = nil
	calls, _ = s.reconcile()
	s.Expect(calls[:2]).To(Equal([]string{"guard", "walk fresh=false"}), "somebody took it off: it is put back, and objects may exist")
}

func TestTransitionsAreWrittenAtOnceAndProgressIsPaced(t *testing.T) {
	s := newStage(t)
	s.show("1 of 3", false)
	calls, wait := s.reconcile()
	s.Expect(calls).NotTo(ContainElement(HavePrefix("status")), "progress waits")
	s.Expect(wait).To(Equal(minPause))
	s.show("ready", true)
	calls, _ = s.reconcile()
	s.Expect(calls).To(ContainElement("status ready"), "Ready does not wait")
	s.show("2 of 3", false)
	_, wait = s.reconcile()
	s.Expect(wait).To(Equal(minPause))
	s.clock = s.clock.Add(minPause)
	calls, wait = s.reconcile()
	s.Expect(calls).To(ContainElement("status 2 of 3"))
	s.Expect(wait).To(BeZero())
	calls, _ = s.reconcile()
	s.Expect(calls).To(Equal([]string{"walk fresh=false"}), "nothing changed: nothing is projected, nothing written")
}

func TestEventsAndWritesAreJudgedAgainstDifferentStates(t *testing.T) {
	s := newStage(t)
	s.show("a", true)
	s.reconcile()
	s.show("b", false)
	s.reconcile()
	s.show("c", false)
	calls, _ := s.reconcile()
	s.Expect(calls).To(ContainElement("project written=a shown=b"))
}

func TestNothingIsShownOfARunThatKnowsNothing(t *testing.T) {
	for name, report := range map[string]executor.Report{
		"watches are not synced": {NotSynced: true, Stamp: 1},
		"a newer generation":     {Superseded: true, Stamp: 1},
	} {
		s := newStage(t)
		s.report = report
		calls, _ := s.reconcile()
		s.Expect(slices.ContainsFunc(calls, func(c string) bool { return c != "guard" && c != "walk fresh=true" })).To(BeFalse(), "%s: %v", name, calls)
	}
}

func TestOwnerGoesWhenItsObjectsAreGone(t *testing.T) {
	s := newStage(t)
	now := metav1.Now()
	s.owner.DeletionTimestamp, s.owner.Finalizers = &now, []string{"other", finalizer}
	s.status = Status{Object: "deleting", Changed: true}
	s.torn = executor.TeardownReport{RequeueAfter: time.Second}
	calls, wait := s.reconcile()
	s.Expect(calls).To(Equal([]string{"teardown"}))
	s.Expect(wait).To(Equal(minPause), "progress of a deletion is paced, too")
	s.torn = executor.TeardownReport{Done: true}
	calls, _ = s.reconcile()
	s.Expect(calls).To(Equal([]string{"teardown", "release [other " + finalizer + "]", "forget 1"}))
	s.owner.Finalizers = []string{"other"}
	calls, _ = s.reconcile()
	s.Expect(calls).To(BeEmpty(), "others hold it; nothing of ours is left to do")
}

func TestOwnerThatWasMadeAnewIsAnotherOne(t *testing.T) {
	s := newStage(t)
	s.reconcile()
	s.owner.UID = "2"
	calls, _ := s.reconcile()
	s.Expect(calls[:3]).To(Equal([]string{"forget 1", "guard", "walk fresh=true"}))
	s.owner = nil
	calls, _ = s.reconcile()
	s.Expect(calls).To(Equal([]string{"forget 2"}))
}

func TestConflictOnTheOwnerIsNoErrorButALaterLook(t *testing.T) {
	s := newStage(t)
	s.writeErr = fmt.Errorf("cannot write: %w", apierrors.NewConflict(schema.GroupResource{Resource: "owners"}, "owner", errors.New("changed")))
	calls, wait := s.reconcile()
	s.Expect(calls).To(Equal([]string{"guard"}), "no walk without the finalizer")
	s.Expect(wait).To(Equal(time.Second))
}

func TestPauseGrowsWithTheCostOfAWrite(t *testing.T) {
	start := time.Unix(1000, 0)
	p := pace{}
	p.wrote(start, start.Add(300*time.Millisecond))
	if got, want := p.wait(start.Add(300*time.Millisecond), false), 6*time.Second; got != want {
		t.Errorf("wait() = %s after a write of 300 ms, want %s", got, want)
	}
	if got := p.wait(start, true); got != 0 {
		t.Errorf("wait() = %s for a transition, want none", got)
	}
}
