package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// Compile makes the graph of an owner. It is called once per generation.
type Compile func() (*resource.Graph, error)

// Reconcile brings an owner's graph forward as far as it goes without waiting
// and reports how it stands. It compiles only when the owner's UID,
// generation or account changed since the last call.
//
// fresh says that the owner was never reconciled before (its finalizer was
// just added), so that nothing of it can exist yet. An error means that the
// owner as a whole cannot be looked at now; failures of nodes are in the
// report.
func (x *Executor) Reconcile(ctx context.Context, o *resource.Owner, fresh bool, compile Compile) (*Report, error) {
	w := x.workFor(o)
	g, err := w.generationFor(ctx, o, fresh, compile)
	if invalid, ok := errors.AsType[*resource.InvalidError](err); ok {
		return &Report{Owner: o, Failure: invalid, RequeueAfter: slowRetryMin}, nil // a record that cannot be read
	}
	if err != nil {
		return nil, err
	}
	if g == nil {
		return &Report{Owner: o, Failure: w.failure, NotSynced: w.failure == nil}, nil
	}
	yielded := g.drain(ctx)
	if !yielded {
		yielded = g.checkExamples(ctx)
	}
	if err := w.prune(ctx, g); err != nil {
		return nil, err
	}
	g.looked = g.looked || !g.notSynced()
	return w.report(g, yielded), nil
}

// notSynced says whether a node waits for the first list of its watch: then
// what is known of the graph is no news, but ignorance.
func (g *generation) notSynced() bool {
	for i := range g.nodes {
		if v := g.nodes[i].verdict.Load(); v != nil && v.reason == ReasonNotSynced {
			return true
		}
	}
	return false
}

// generationFor returns the run of the owner's generation; nil when it does
// not compile, or while it is not known what was recorded for it.
func (w *work) generationFor(ctx context.Context, o *resource.Owner, fresh bool, compile Compile) (*generation, error) {
	current, _ := w.state()
	if current != nil && same(current.owner, o) {
		return current, nil
	}
	if w.failure != nil && w.tried == o.Generation && w.uid == o.UID {
		return nil, nil
	}
	if synced, err := w.x.recordStore.Status(); !fresh && current == nil && !synced {
		if err != nil {
			return nil, fmt.Errorf("cannot read inventories: %w", err)
		}
		return nil, nil
	}
	w.uid, w.tried = o.UID, o.Generation
	started := w.x.now()
	compiled, err := compile()
	if err != nil {
		w.x.metrics.Compiled(o.GroupKind(), compileReason(err), w.x.now().Sub(started))
		w.failure = err
		return nil, nil
	}
	w.x.metrics.Compiled(o.GroupKind(), "", w.x.now().Sub(started))
	w.failure = nil
	return w.begin(ctx, o, compiled)
}

// compileReason is the reason of the first finding.
func compileReason(err error) string {
	if invalid, ok := errors.AsType[*resource.InvalidError](err); ok {
		return invalid.Reason
	}
	return "Invalid"
}

// same says that an owner's graph need not be compiled again.
func same(a, b *resource.Owner) bool {
	return a.UID == b.UID && a.Generation == b.Generation && a.ServiceAccount == b.ServiceAccount
}

// begin replaces the run by one over a new graph, and finds out what older
// graphs left behind.
func (w *work) begin(ctx context.Context, o *resource.Owner, compiled *resource.Graph) (*generation, error) {
	old, oldRemoval := w.state()
	g, err := newGeneration(w.x, o, compiled, &w.stamp)
	if err != nil {
		return nil, err
	}
	g.record.mu.Lock()
	err = g.plan()
	g.record.mu.Unlock()
	if err != nil {
		w.failure = err
		g.close()
		return nil, nil //nolint:nilerr // the report shows it, as it does a graph that does not compile
	}
	removal, err := w.leftovers(ctx, g)
	if err != nil {
		g.close()
		return nil, err
	}
	if old != nil {
		g.inherit(old)
		old.close()
	}
	oldRemoval.close()
	w.setGeneration(g)
	w.setRemoval(removal)
	w.stopOlder() // the owner may have changed while this was made
	g.begun = w.x.now()
	w.x.metrics.CriticalPath(o.GroupKind(), len(compiled.CriticalPath()))
	return g, nil
}

// leftovers reads the active records of older plans and makes the removal of
// what they have and the new graph has not; nil when there is nothing.
func (w *work) leftovers(ctx context.Context, g *generation) (*removal, error) {
	var plans []*inventory.Plan
	for _, ref := range w.x.recordsOf(g.owner) {
		if ref.Name == g.record.name {
			g.recordedBefore = true
			g.record.stored = ref.Active && ref.Generation == g.owner.Generation
			continue
		}
		if !ref.Active {
			continue
		}
		plan, err := w.x.records.Read(ctx, ref)
		if err != nil {
			return nil, err
		}
		g.older = append(g.older, ref)
		plans = append(plans, plan)
		g.markRecorded(plan)
	}
	if len(plans) == 0 {
		return nil, nil
	}
	reversed, err := inventory.Reverse(plans, func(id resource.Identity) bool {
		_, stays := g.index[id]
		return !stays
	})
	if err != nil {
		return nil, fmt.Errorf("cannot order what is to be pruned: %w", err)
	}
	return w.x.newRemoval(g.owner, reversed, false, &w.stamp)
}

// markRecorded notes which objects an older plan may have made already.
func (g *generation) markRecorded(p *inventory.Plan) {
	for i := range p.Entries {
		if j, ok := g.index[p.Entries[i].Identity]; ok {
			g.nodes[j].recorded = true
		}
	}
}

// drain lets every node act that can.
func (g *generation) drain(ctx context.Context) (yielded bool) {
	g.mu.Lock()
	g.timers.wake(g.run, g.x.now())
	g.mu.Unlock()
	g.writes.Store(0)
	d := drain{run: g.run, limit: g.limit, process: g.process, writes: &g.writes, now: g.x.now}
	return d.do(ctx)
}

// prune takes down what older graphs left, once every node of this one is
// Ready; what asks to go early goes before. Then the older records become
// history.
func (w *work) prune(ctx context.Context, g *generation) error {
	_, r := w.state()
	if g.run.Superseded() {
		return nil
	}
	ready := g.run.Counts().Done()
	if r != nil {
		if ready {
			r.allow()
		}
		g.pruneYielded = r.do(ctx)
		if !r.done() {
			return nil
		}
		r.close()
		w.setRemoval(nil)
	}
	if !ready || len(g.older) == 0 {
		return nil
	}
	return w.retire(ctx, g)
}

// retire makes the older records history and drops those beyond the last few.
func (w *work) retire(ctx context.Context, g *generation) error {
	if err := g.store(ctx); err != nil {
		return err
	}
	for _, ref := range g.older {
		retired, err := w.x.records.Retire(ctx, ref)
		if err != nil {
			return err
		}
		if retired != nil {
			w.x.recordStore.Observe(retired)
		}
		w.x.metrics.OwnerWrite(g.owner.GroupKind(), "inventory")
	}
	g.older = nil
	kept := 0
	for _, ref := range w.x.recordsOf(g.owner) {
		if kept++; kept <= keptRecords || ref.Active || ref.Name == g.record.name {
			continue
		}
		if err := w.x.records.Release(ctx, ref); err != nil {
			return err
		}
		w.x.recordStore.ObserveDeleted(ref.Namespace, ref.Name, ref.UID, "")
	}
	return nil
}

// report describes the run as it stands. No node is in flight.
func (w *work) report(g *generation, yielded bool) *Report {
	_, r := w.state()
	rep := &Report{
		Owner: g.owner, Counts: g.run.Counts(), NotSynced: !g.looked, generation: g,
		ToDelete: append(g.leaving(), r.left()...), Superseded: g.run.Superseded(), Begun: g.begun,
	}
	if g.looked {
		rep.Moved = g.run.Drain()
	}
	if len(rep.Moved) > 0 {
		w.stamp.Add(1) // a node that regains its state has the verdict of before
	}
	rep.Stamp = w.stamp.Load()
	now := w.x.now()
	g.mu.Lock()
	rep.RequeueAfter = g.timers.next(now)
	g.mu.Unlock()
	if r != nil {
		rep.RequeueAfter = soonest(rep.RequeueAfter, r.timers.next(now))
	}
	if yielded || g.pruneYielded {
		rep.RequeueAfter = 1 // at once, but after the owners that wait
	}
	return rep
}

func soonest(a, b time.Duration) time.Duration {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
