package controller

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/executor"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/internal/metrics"
	"github.com/truss-dev/truss/internal/reconciler"
)

// workers reconcile different Bundles at the same time.
const workers = 16

// Options are the settings of the Bundle controller.
type Options struct {
	Cluster *cluster.Cluster
	// Executor settings; Wake is set here.
	Executor executor.Options
	// DefaultServiceAccount writes the objects of Bundles that name none; empty
	// means the manager itself.
	DefaultServiceAccount string
	Metrics               *metrics.Metrics
}

// Setup adds the Bundle controller and its executor to a manager.
func Setup(m manager.Manager, o Options) error {
	wakeups := &queue{}
	o.Executor.Wake = wakeups.add
	x, err := executor.New(o.Executor)
	if err != nil {
		return err
	}
	if err := m.Add(leaderOnly{x.Run}); err != nil {
		return err
	}
	own, err := o.Cluster.Client(cluster.Account{})
	if err != nil {
		return err
	}
	owner := reconciler.NewOwnerWriter(own.Dynamic)
	if slots := o.Executor.Slots; len(slots) > 0 {
		if err := m.Add(leaderOnly{newClaimer(o.Cluster, slots, owner, o.Executor.Log).run}); err != nil {
			return err
		}
	}
	r := reconciler.New(&kind{defaultServiceAccount: o.DefaultServiceAccount, now: time.Now}, reconciler.Options{
		Reader: m.GetClient(), Executor: x, Writer: owner,
		Recorder: m.GetEventRecorder("truss"), Metrics: o.Metrics,
	})
	anyName := true // several managers in one process are no mistake
	c, err := controller.New("bundle", m, controller.Options{
		Reconciler: r, MaxConcurrentReconciles: workers, SkipNameValidation: &anyName,
	})
	if err != nil {
		return err
	}
	if err := c.Watch(source.Kind(m.GetCache(), &v1.Bundle{}, &owners{supersede: x.Supersede})); err != nil {
		return err
	}
	return c.Watch(source.Func(wakeups.start))
}

// leaderOnly runs something on the elected manager only: followers watch and
// write nothing.
type leaderOnly struct {
	run func(ctx context.Context) error
}

// Start implements manager.Runnable.
func (l leaderOnly) Start(ctx context.Context) error { return l.run(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (leaderOnly) NeedLeaderElection() bool { return true }

// queue hands wake-ups of the executor to the controller's workqueue. What
// comes before the controller starts is dropped: it starts with all Bundles.
type queue struct {
	mu sync.RWMutex
	q  workqueue.TypedRateLimitingInterface[reconcile.Request]
}

func (q *queue) start(_ context.Context, to workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.q = to
	return nil
}

func (q *queue) add(owner types.NamespacedName) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.q != nil {
		q.q.Add(ctrl.Request{NamespacedName: owner})
	}
}

// owners handles events of Bundles. A new generation or a deletion stops what
// is under way for the old one at once. Our own status writes wake nobody.
type owners struct {
	supersede func(uid types.UID, generation int64)
}

type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

var _ handler.TypedEventHandler[*v1.Bundle, reconcile.Request] = &owners{}

// Create implements handler.TypedEventHandler.
func (h *owners) Create(_ context.Context, e event.TypedCreateEvent[*v1.Bundle], q requests) {
	q.Add(requestFor(e.Object))
}

// Update implements handler.TypedEventHandler.
func (h *owners) Update(_ context.Context, e event.TypedUpdateEvent[*v1.Bundle], q requests) {
	was, is := e.ObjectOld, e.ObjectNew
	switch {
	case is.DeletionTimestamp != nil:
		h.supersede(is.UID, math.MaxInt64)
	case was.UID == is.UID && was.Generation == is.Generation &&
		slices.Equal(was.Finalizers, is.Finalizers) && maps.Equal(was.Annotations, is.Annotations):
		return
	default:
		h.supersede(is.UID, is.Generation)
	}
	q.Add(requestFor(is))
}

// Delete implements handler.TypedEventHandler.
func (h *owners) Delete(_ context.Context, e event.TypedDeleteEvent[*v1.Bundle], q requests) {
	h.supersede(e.Object.UID, math.MaxInt64)
	q.Add(requestFor(e.Object))
}

// Generic implements handler.TypedEventHandler; nothing sends such events.
func (h *owners) Generic(context.Context, event.TypedGenericEvent[*v1.Bundle], requests) {}

func requestFor(b *v1.Bundle) reconcile.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Namespace: b.Namespace, Name: b.Name}}
}
