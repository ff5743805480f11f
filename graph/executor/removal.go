package executor

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
)

// ReasonTeardownForbidden is given when rights to take objects down are gone.
const ReasonTeardownForbidden = "TeardownForbidden"

// removal takes recorded objects down in reverse order: those that left a
// graph (prune), or all of an owner's (teardown). It is a walk over the
// reversed graph in which a node is Ready when its object is really gone.
type removal struct {
	x       *Executor
	owner   *resource.Owner
	account cluster.Account
	client  *cluster.Client
	own     *cluster.Client
	graph   *graph.Graph[inventory.Entry]
	run     *graph.Run
	index   map[resource.Identity]int
	final   bool
	// allowed lets objects go; until then only those that ask for an early
	// prune do.
	allowed atomic.Bool
	limit   limiter
	writes  atomic.Int64
	places  []place
	// stamp counts changes of what is shown of the owner.
	stamp *atomic.Uint64

	mu     sync.Mutex
	stores map[observer.Key]*observer.Store
	timers *timers
}

// place is what is known of one object that goes.
type place struct {
	store    *observer.Store
	deleting types.UID
	failures int
	verdict  atomic.Pointer[verdict]
}

func (x *Executor) newRemoval(o *resource.Owner, g *graph.Graph[inventory.Entry], final bool, stamp *atomic.Uint64) (*removal, error) {
	account := accountOf(o)
	client, err := x.cluster.Client(account)
	if err != nil {
		return nil, err
	}
	own, err := x.cluster.Client(cluster.Account{})
	if err != nil {
		return nil, err
	}
	r := &removal{
		x: x, stamp: stamp, owner: o, account: account, client: client, own: own, graph: g, run: graph.NewRun(g),
		index: make(map[resource.Identity]int, g.Len()), final: final,
		limit: make(limiter, x.ownerWrites), places: make([]place, g.Len()),
		stores: map[observer.Key]*observer.Store{}, timers: newTimers(),
	}
	r.allowed.Store(final)
	for i := range g.Len() {
		e := &g.At(i).Payload
		r.index[e.Identity] = i
		r.places[i].store = r.acquire(x.childKey(account, e.GVR()))
	}
	return r, nil
}

func accountOf(o *resource.Owner) cluster.Account {
	if o.ServiceAccount == "" {
		return cluster.Account{}
	}
	return cluster.Account{Namespace: o.Namespace, ServiceAccount: o.ServiceAccount}
}

func (r *removal) acquire(k observer.Key) *observer.Store {
	s, ok := r.stores[k]
	if !ok {
		s = r.x.observer.Acquire(k)
		r.stores[k] = s
	}
	return s
}

// allow lets all objects go, once every node of the new graph is Ready.
func (r *removal) allow() {
	if !r.allowed.Swap(true) {
		r.run.TouchAll()
	}
}

// do takes down what can go now; it reports whether work is left for another
// turn.
func (r *removal) do(ctx context.Context) (yielded bool) {
	r.timers.wake(r.run, r.x.now())
	r.writes.Store(0)
	d := drain{run: r.run, limit: r.limit, process: r.process, writes: &r.writes, now: r.x.now}
	return d.do(ctx)
}

func (r *removal) done() bool { return r.run.Counts().Done() }

func (r *removal) process(ctx context.Context, i int) graph.Outcome {
	v, _ := guarded(r.x.log, r.graph.At(i).Payload.Identity, func() (*verdict, bool) { return r.step(ctx, i), false })
	p := &r.places[i]
	v.since = r.x.now()
	p.verdict.Store(v)
	r.stamp.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	at := noTime
	if v.retry > 0 {
		at = v.since.Add(v.retry)
	}
	r.timers.set(i, at)
	return graph.Outcome{State: v.state, Terminal: v.terminal}
}

func (r *removal) step(ctx context.Context, i int) *verdict {
	p, e := &r.places[i], &r.graph.At(i).Payload
	if was := p.verdict.Load(); was != nil && was.state == graph.Ready {
		gone := *was // the event of its deletion came while it was in flight
		return &gone
	}
	if !r.allowed.Load() && !r.early(p, e) {
		return waiting("Kept", "kept until every resource of the new generation is Ready")
	}
	if r.stillThere(p, e) {
		return waiting(writer.ReasonTerminating, p.verdict.Load().message)
	}
	out, f := r.x.writer.Delete(ctx, &writer.Removal{
		Owner: r.owner, Entry: e, Client: r.client, Own: r.own, Final: r.final, Recorder: p.store,
	})
	r.writes.Add(1)
	switch {
	case f != nil:
		return r.failed(p, f)
	case out.Gone:
		p.failures = 0
		return &verdict{state: graph.Ready, message: out.Message}
	}
	p.failures = 0
	v := waiting(writer.ReasonTerminating, out.Message)
	if out.After > 0 {
		v.reason, v.retry = "Delayed", out.After
		return v
	}
	p.deleting = out.UID
	if synced, err := p.store.Status(); !synced || err != nil || !r.shown(p, e) {
		v.retry = kindRetryMax // nobody tells us when it is gone
	}
	return v
}

// shown says whether the watch has the object that was told to go. One whose
// label was taken off leaves it long before it is gone.
func (r *removal) shown(p *place, e *inventory.Entry) bool {
	item, presence := p.store.Get(e.Namespace, e.Name)
	return presence == observer.Present && item.Object.GetUID() == p.deleting
}

// stillThere says whether the watch shows the object that was told to go.
func (r *removal) stillThere(p *place, e *inventory.Entry) bool {
	if p.deleting == "" {
		return false
	}
	item, presence := p.store.Get(e.Namespace, e.Name)
	return presence == observer.Present && item.Object.GetUID() == p.deleting && item.Object.GetDeletionTimestamp() != nil
}

// early says whether an object asks to go before the new graph is Ready.
func (r *removal) early(p *place, e *inventory.Entry) bool {
	item, presence := p.store.Get(e.Namespace, e.Name)
	return presence == observer.Present && item.Object.GetAnnotations()[resource.PruneAnnotation] == "early"
}

func (r *removal) failed(p *place, f *writer.Failure) *verdict {
	p.failures++
	v := &verdict{state: graph.Error, reason: f.Reason, message: f.Message, retry: pause(f.Class, f.Reason, p.failures)}
	if f.Class == writer.Terminal {
		v.retry = slowRetryMax // it must go all the same, once somebody has mended it
	}
	if f.Class == writer.Denied && f.Reason == writer.ReasonForbidden {
		v.reason = ReasonTeardownForbidden
	}
	return v
}

// Object names a recorded object and the version it was written in.
type Object struct {
	resource.Identity
	Version string
}

// left lists what is not gone yet, sorted.
func (r *removal) left() []Object {
	if r == nil {
		return nil
	}
	var out []Object
	for i := range r.graph.Len() {
		if r.run.State(i) != graph.Ready {
			e := &r.graph.At(i).Payload
			out = append(out, Object{e.Identity, e.Version})
		}
	}
	slices.SortFunc(out, func(a, b Object) int { return a.Compare(b.Identity) })
	return out
}

func (r *removal) touch(id resource.Identity) bool {
	if r == nil {
		return false
	}
	i, ok := r.index[id]
	if ok && r.run.State(i) != graph.Ready {
		r.run.Touch(i)
		return true
	}
	return false
}

func (r *removal) touchKind(gk schema.GroupKind) bool {
	if r == nil {
		return false
	}
	touched := false
	for id := range r.index {
		touched = id.GroupKind() == gk && r.touch(id) || touched
	}
	return touched
}

func (r *removal) usesWatch(k observer.Key) bool {
	if r == nil {
		return false
	}
	if _, ok := r.stores[k]; !ok {
		return false
	}
	for id := range r.index {
		r.touch(id)
	}
	return true
}

func (r *removal) close() {
	if r == nil {
		return
	}
	r.run.Supersede()
	for _, s := range r.stores {
		s.Release()
	}
}
