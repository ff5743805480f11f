package executor

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
)

// handle turns an event of the cluster into touched nodes and woken owners.
// It runs on the goroutine of a watch: it looks up, marks and returns.
func (x *Executor) handle(e observer.Event) {
	if e.Synced {
		x.watchChanged(e.Key)
		return
	}
	if e.Key == x.recordStore.Key() {
		x.recordChanged(e.Object)
		return
	}
	x.childChanged(e)
	for _, ref := range e.Object.GetOwnerReferences() {
		x.owned.touch(x, ref.UID)
	}
	x.named.touch(x, objectName{e.Key.Resource.GroupResource(), e.Namespace, e.Name})
}

func (x *Executor) identityOf(e observer.Event) resource.Identity {
	gvk := e.Object.GroupVersionKind()
	if gvk.Kind == "" {
		gvk, _ = x.cluster.KindFor(e.Key.Resource)
	}
	return resource.Identity{Group: e.Key.Resource.Group, Kind: gvk.Kind, Namespace: e.Namespace, Name: e.Name}
}

// childChanged touches the node of an object that is ours by its label. An
// object that carries our manager label and no known owner was tampered with:
// whoever has it in a graph looks at it. That is rare, so all are asked.
func (x *Executor) childChanged(e observer.Event) {
	labels := e.Object.GetLabels()
	if labels[resource.ManagerLabel] != x.manager {
		return
	}
	id := x.identityOf(e)
	w := x.work(types.UID(labels[resource.OwnerLabel]))
	if w == nil {
		x.eachWork(func(w *work) bool { return w.touch(id) })
		return
	}
	if w.touch(id) {
		x.wake(w.key)
	}
}

// watchChanged wakes the owners that use a watch: it became synced, or its
// error changed. Rare, so all their nodes look again.
func (x *Executor) watchChanged(k observer.Key) {
	x.eachWork(func(w *work) bool { return w.usesWatch(x, k) })
}

// kindChanged wakes the nodes of a kind whose CRD or API service changed.
func (x *Executor) kindChanged(gk schema.GroupKind) {
	x.eachWork(func(w *work) bool { return w.touchKind(gk) })
}

// eachWork calls touch for all owners and wakes those for which it says so.
func (x *Executor) eachWork(touch func(*work) bool) {
	x.mu.Lock()
	all := make([]*work, 0, len(x.works))
	for _, w := range x.works {
		all = append(all, w)
	}
	x.mu.Unlock()
	for _, w := range all {
		if touch(w) {
			x.wake(w.key)
		}
	}
}

// refs maps what a node waits for to the nodes that wait. The zero value is
// empty and ready.
type refs[K comparable] struct {
	mu sync.Mutex
	m  map[K][]nodeRef
}

// objectName names an object as a watch of metadata does, which need not know
// its kind.
type objectName struct {
	resource        schema.GroupResource
	namespace, name string
}

type nodeRef struct {
	g    *generation
	node int
}

func (r *refs[K]) add(k K, ref nodeRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m == nil {
		r.m = map[K][]nodeRef{}
	}
	if slices.Contains(r.m[k], ref) {
		return
	}
	r.m[k] = append(r.m[k], ref)
}

// remove drops what nodes of g wait for under k.
func (r *refs[K]) remove(k K, g *generation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var rest []nodeRef
	for _, ref := range r.m[k] {
		if ref.g != g {
			rest = append(rest, ref)
		}
	}
	if len(rest) == 0 {
		delete(r.m, k)
		return
	}
	r.m[k] = rest
}

func (r *refs[K]) touch(x *Executor, k K) {
	r.mu.Lock()
	waiting := r.m[k] // appended to only by copying or beyond its length
	r.mu.Unlock()
	for _, ref := range waiting {
		ref.g.run.Touch(ref.node)
		x.wake(ref.g.owner.Key())
	}
}
