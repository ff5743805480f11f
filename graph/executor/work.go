package executor

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
)

// work is what is kept for one owner between reconciles.
type work struct {
	x   *Executor
	key types.NamespacedName

	// newest is the newest generation that the owner's events told of.
	newest atomic.Int64
	// stamp counts changes of what is shown of the owner.
	stamp atomic.Uint64
	// current and removal are set by the owner's reconcile, read by events.
	mu      sync.RWMutex
	current *generation
	removal *removal

	// Only the owner's reconcile uses the rest.
	uid types.UID
	// failure is why the newest generation could not be compiled.
	failure error
	tried   int64
	// records are those that a teardown releases at its end.
	records []inventory.Ref
	// namespaceGoes says that the owner's namespace is being deleted, as of
	// namespaceAt.
	namespaceGoes bool
	namespaceAt   time.Time
}

func (w *work) state() (*generation, *removal) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.current, w.removal
}

func (w *work) setGeneration(g *generation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current = g
	w.stamp.Add(1)
}

func (w *work) setRemoval(r *removal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removal = r
	w.stamp.Add(1)
}

// touch marks the node of an object; false when nobody cares for it.
func (w *work) touch(id resource.Identity) bool {
	g, r := w.state()
	touched := false
	if g != nil {
		if i, ok := g.index[id]; ok {
			g.run.Touch(i)
			touched = true
		}
	}
	return r.touch(id) || touched
}

func (w *work) touchKind(gk schema.GroupKind) bool {
	g, r := w.state()
	touched := r.touchKind(gk)
	if g == nil {
		return touched
	}
	for id, i := range g.index {
		if id.GroupKind() == gk {
			g.run.Touch(i)
			touched = true
		}
	}
	return touched
}

// usesWatch marks all nodes when the owner depends on a watch that changed.
func (w *work) usesWatch(x *Executor, k observer.Key) bool {
	g, r := w.state()
	if k == x.recordStore.Key() {
		return g == nil
	}
	used := false
	if g != nil && g.watches(k) {
		g.run.TouchAll()
		used = true
	}
	return r.usesWatch(k) || used
}

func (w *work) supersede(generation int64) {
	for {
		seen := w.newest.Load()
		if generation <= seen {
			return
		}
		if w.newest.CompareAndSwap(seen, generation) {
			break
		}
	}
	w.stopOlder()
}

// stopOlder ends what is under way for a generation that is not the newest.
// What was left over is not pruned any further either: the newest may want it.
func (w *work) stopOlder() {
	g, r := w.state()
	if g != nil && g.owner.Generation < w.newest.Load() {
		g.run.Supersede()
	}
	if r != nil && !r.final && r.owner.Generation < w.newest.Load() {
		r.run.Supersede()
	}
}

func (w *work) close() {
	g, r := w.state()
	if g != nil {
		g.close()
	}
	r.close()
}
