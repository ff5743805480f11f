package reconciler

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/truss-dev/truss/graph/executor"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/metrics"
)

// Executor is the part of executor.Executor that the reconciler drives.
type Executor interface {
	Reconcile(ctx context.Context, o *resource.Owner, fresh bool, compile executor.Compile) (*executor.Report, error)
	Teardown(ctx context.Context, o *resource.Owner) (*executor.TeardownReport, error)
	Forget(uid types.UID)
}

// Writer is the part of OwnerWriter that the reconciler uses.
type Writer interface {
	Guard(ctx context.Context, o *resource.Owner) error
	Status(ctx context.Context, o *resource.Owner, status any) error
	Release(ctx context.Context, o *resource.Owner, finalizers []string, version string) error
}

// Options are what a Reconciler needs; all fields but Metrics.
type Options struct {
	// Reader reads owners from a cache without copying them.
	Reader   client.Reader
	Executor Executor
	Writer   Writer
	Recorder events.EventRecorder
	Metrics  *metrics.Metrics
}

// Reconciler reconciles owners of one kind. It implements reconcile.Reconciler.
type Reconciler[O client.Object] struct {
	kind Kind[O]
	Options
	now func() time.Time

	mu     sync.Mutex
	owners map[types.NamespacedName]*memory
}

// memory is what is kept of one owner between reconciles. Only its own
// reconcile uses it.
type memory struct {
	uid types.UID
	// guarded says that we put the finalizer on the owner and the cache has
	// not shown it yet; fresh that nothing of the owner can exist yet.
	guarded, fresh bool
	// known says that the finalizer was on the owner at some time.
	known    bool
	pace     pace
	previous Previous
	// stamp is that of the last report whose status was projected.
	stamp   uint64
	pending *Status
	ready   bool
}

// New returns a reconciler for a kind.
func New[O client.Object](k Kind[O], o Options) *Reconciler[O] {
	return &Reconciler[O]{kind: k, Options: o, now: time.Now, owners: map[types.NamespacedName]*memory{}}
}

// Reconcile implements reconcile.Reconciler. Failures of nodes are never
// returned: each node has its own backoff. A conflict on the owner itself is
// no error either: its event is on the way.
func (r *Reconciler[O]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	obj := r.kind.New()
	if err := r.Reader.Get(ctx, req.NamespacedName, obj); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(req.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("cannot read %q: %w", req.NamespacedName, err)
	}
	o := r.kind.Owner(obj)
	m := r.memoryOf(o)
	after, err := r.advance(ctx, obj, o, m)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	return reconcile.Result{RequeueAfter: after}, err
}

func (r *Reconciler[O]) advance(ctx context.Context, obj O, o *resource.Owner, m *memory) (time.Duration, error) {
	if obj.GetDeletionTimestamp() != nil {
		return r.teardown(ctx, obj, o, m)
	}
	if err := r.guard(ctx, obj, o, m); err != nil {
		return 0, err
	}
	report, err := r.Executor.Reconcile(ctx, o, m.fresh, func() (*resource.Graph, error) { return r.kind.Compile(obj) })
	if err != nil {
		return 0, err
	}
	if report.NotSynced || report.Superseded {
		return report.RequeueAfter, nil
	}
	m.fresh = false
	r.measure(o, m, report)
	wait, err := r.show(ctx, obj, o, m, report)
	return soonest(report.RequeueAfter, wait), err
}

// guard puts finalizer and slot label on the owner, in one write, before the
// first of its objects; again when somebody took it off.
func (r *Reconciler[O]) guard(ctx context.Context, obj O, o *resource.Owner, m *memory) error {
	if slices.Contains(obj.GetFinalizers(), o.Finalizer) {
		m.guarded, m.known = false, true
		return nil
	}
	if m.guarded {
		return nil
	}
	began := r.now()
	if err := r.Writer.Guard(ctx, o); err != nil {
		return err
	}
	m.pace.wrote(began, r.now())
	r.Metrics.OwnerWrite(o.GroupKind(), metrics.Finalizer)
	m.guarded, m.fresh = true, !m.known
	m.known = true
	return nil
}

// show writes the owner's status if it changed and its time has come; it
// returns when to come back otherwise.
func (r *Reconciler[O]) show(ctx context.Context, obj O, o *resource.Owner, m *memory, report *executor.Report) (time.Duration, error) {
	if report.Failure != nil || report.Stamp != m.stamp || m.pending == nil {
		s := r.kind.Status(obj, m.previous, report)
		r.announce(obj, s.Events)
		m.stamp = report.Stamp
		m.pending, m.previous.Shown = &s, s.Object
	}
	return r.write(ctx, o, m)
}

func (r *Reconciler[O]) write(ctx context.Context, o *resource.Owner, m *memory) (time.Duration, error) {
	if !m.pending.Changed {
		return 0, nil
	}
	if wait := m.pace.wait(r.now(), m.pending.Urgent); wait > 0 {
		return wait, nil
	}
	began := r.now()
	if err := r.Writer.Status(ctx, o, m.pending.Object); err != nil {
		return 0, err
	}
	r.Metrics.OwnerWrite(o.GroupKind(), metrics.Status)
	m.pace.wrote(began, r.now())
	m.previous.Written = m.pending.Object
	m.pending.Changed = false
	return 0, nil
}

func (r *Reconciler[O]) teardown(ctx context.Context, obj O, o *resource.Owner, m *memory) (time.Duration, error) {
	if !slices.Contains(obj.GetFinalizers(), o.Finalizer) {
		return 0, nil // others' finalizers hold it; nothing of ours is left
	}
	report, err := r.Executor.Teardown(ctx, o)
	if err != nil {
		return 0, err
	}
	if report.Done {
		if err := r.Writer.Release(ctx, o, obj.GetFinalizers(), obj.GetResourceVersion()); err != nil {
			return 0, err
		}
		r.Metrics.OwnerWrite(o.GroupKind(), metrics.Finalizer)
		r.Executor.Forget(o.UID)
		return 0, nil
	}
	s := r.kind.Deleting(obj, m.previous, report)
	r.announce(obj, s.Events)
	m.pending, m.previous.Shown = &s, s.Object
	wait, err := r.write(ctx, o, m)
	return soonest(report.RequeueAfter, wait), err
}

func (r *Reconciler[O]) announce(obj O, all []Event) {
	for _, e := range all {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(obj, nil, kind, e.Reason, "Reconcile", "%s", e.Message)
	}
}

func (r *Reconciler[O]) measure(o *resource.Owner, m *memory, report *executor.Report) {
	if report.Failure != nil {
		m.ready = false
		return
	}
	r.Metrics.NodeStates(metrics.Owner{Kind: o.GroupKind(), Namespace: o.Namespace, Name: o.Name}, report.Counts)
	ready := report.Counts.Done()
	if ready && !m.ready {
		r.Metrics.RunReady(o.GroupKind(), r.now().Sub(report.Begun))
	}
	m.ready = ready
}

func (r *Reconciler[O]) memoryOf(o *resource.Owner) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.owners[o.Key()]
	if ok && m.uid == o.UID {
		return m
	}
	if ok {
		r.Executor.Forget(m.uid) // deleted and created anew between two looks
	}
	m = &memory{uid: o.UID, pace: pace{last: r.now()}}
	r.owners[o.Key()] = m
	return m
}

func (r *Reconciler[O]) forget(key types.NamespacedName) {
	r.mu.Lock()
	m, ok := r.owners[key]
	delete(r.owners, key)
	r.mu.Unlock()
	if !ok {
		return
	}
	r.Executor.Forget(m.uid)
	r.Metrics.Forget(metrics.Owner{Kind: r.kind.Owner(r.kind.New()).GroupKind(), Namespace: key.Namespace, Name: key.Name})
}

func soonest(a, b time.Duration) time.Duration {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
