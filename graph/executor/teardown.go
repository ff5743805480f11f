package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// namespaceCheck is how often a teardown that waits looks whether the
// namespace itself is being deleted.
const namespaceCheck = 10 * time.Second

// TeardownReport says how far the teardown of an owner got.
type TeardownReport struct {
	// Done says that every object is gone or was left on purpose, and the
	// inventory is released: the owner's finalizer may go.
	Done bool
	// Total is the number of recorded objects, Left those not gone yet, sorted.
	Total int
	Left  []Object
	// Reason and Message explain the first obstacle; Failed says that it needs
	// somebody's help.
	Failed          bool
	Reason, Message string
	RequeueAfter    time.Duration
}

// Teardown takes down all objects of an owner that is being deleted, in
// reverse order, from the inventory alone: it renders nothing and needs no
// CRD, template or cache. Call it until it is done.
func (x *Executor) Teardown(ctx context.Context, o *resource.Owner) (*TeardownReport, error) {
	w := x.workFor(o)
	r, err := w.teardown(ctx, o)
	if invalid, ok := errors.AsType[*resource.InvalidError](err); ok {
		return &TeardownReport{Failed: true, Reason: invalid.Reason, Message: invalid.Error(), RequeueAfter: slowRetryMin}, nil
	}
	if err != nil {
		return nil, err
	}
	yielded := r.do(ctx)
	if !r.done() {
		if err := w.checkNamespace(ctx, o); err != nil {
			return nil, err
		}
		if !w.namespaceGoes || r.leftElsewhere() {
			return r.report(yielded), nil
		}
	}
	for _, ref := range w.records {
		if err := x.records.Release(ctx, ref); err != nil {
			return nil, err
		}
	}
	return &TeardownReport{Done: true, Total: r.graph.Len()}, nil
}

// teardown returns the walk that takes the owner down, and ends the one that
// built it up.
func (w *work) teardown(ctx context.Context, o *resource.Owner) (*removal, error) {
	g, r := w.state()
	if r != nil && r.final {
		return r, nil
	}
	refs, err := w.x.records.List(ctx, o)
	if err != nil {
		return nil, err
	}
	plans := make([]*inventory.Plan, 0, len(refs))
	owned := 0
	for _, ref := range refs {
		if !ref.Active {
			continue
		}
		plan, err := w.x.records.Read(ctx, ref)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
		if ref.Owned {
			owned++
		}
	}
	if len(plans) > 0 && owned == 0 && o.Namespace != "" {
		// The garbage collector took our references off all of them. One
		// alone proves nothing: a record can be forged.
		kept := *o
		kept.Orphan = true
		o = &kept
	}
	reversed, err := inventory.Reverse(plans, func(resource.Identity) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("cannot order the teardown: %w", err)
	}
	next, err := w.x.newRemoval(o, reversed, true, &w.stamp)
	if err != nil {
		return nil, err
	}
	w.records = refs
	w.setRemoval(next)
	w.setGeneration(nil)
	r.close()
	if g != nil {
		g.close()
	}
	return next, nil
}

// checkNamespace looks, once in a while, whether the owner's namespace goes.
func (w *work) checkNamespace(ctx context.Context, o *resource.Owner) error {
	now := w.x.now()
	if w.namespaceGoes || now.Sub(w.namespaceAt) < namespaceCheck {
		return nil
	}
	goes, err := w.x.namespaceTerminating(ctx, o)
	if err != nil {
		return err
	}
	w.namespaceGoes, w.namespaceAt = goes, now
	return nil
}

// namespaceTerminating says whether the owner's namespace is going: then
// Kubernetes deletes everything in it, in no order, and finalizers of ours
// would only hold it up.
func (x *Executor) namespaceTerminating(ctx context.Context, o *resource.Owner) (bool, error) {
	if o.Namespace == "" {
		return false, nil
	}
	own, err := x.cluster.Client(cluster.Account{})
	if err != nil {
		return false, err
	}
	ns, err := own.Metadata.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Get(ctx, o.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read namespace %q: %w", o.Namespace, err)
	}
	return ns.DeletionTimestamp != nil, nil
}

// leftElsewhere says whether an object outside the owner's namespace is left.
func (r *removal) leftElsewhere() bool {
	for _, id := range r.left() {
		if id.Namespace != r.owner.Namespace {
			return true
		}
	}
	return false
}

// report says how far the walk got; what needs help comes before what only
// takes time.
func (r *removal) report(yielded bool) *TeardownReport {
	rep := &TeardownReport{Total: r.graph.Len(), Left: r.left(), RequeueAfter: namespaceCheck}
	for i := range r.places {
		state := r.run.State(i)
		v := r.places[i].verdict.Load()
		if v == nil || state == graph.Ready || state == graph.Blocked {
			continue
		}
		failed := state == graph.Error
		if rep.Message == "" || failed && !rep.Failed {
			rep.Failed, rep.Reason, rep.Message = failed, v.reason, v.message
		}
	}
	rep.RequeueAfter = soonest(r.timers.next(r.x.now()), namespaceCheck)
	if yielded {
		rep.RequeueAfter = 1
	}
	return rep
}
