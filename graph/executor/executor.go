package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/metrics"
	"github.com/truss-dev/truss/readiness"
)

// Limits on writes in flight.
const (
	defaultWrites      = 128
	defaultOwnerWrites = 32
)

// measureEvery is the pause between looks at the sizes of caches.
const measureEvery = 10 * time.Second

// Options are the settings of an Executor. Cluster, Key, Namespace and Wake
// are needed; the rest has defaults.
type Options struct {
	Cluster *cluster.Cluster
	// Key signs what Truss writes.
	Key writer.Key
	// Namespace of the controller holds the inventory of cluster-scoped owners.
	Namespace string
	// Manager selects the children to watch: resource.ManagerCore or a
	// Stack's UID.
	Manager string
	// Slots are the slots whose owners this executor serves; empty means all.
	// It caches only their children.
	Slots []int
	// Scope decides what owners may write; OwnNamespace by default.
	Scope writer.Scope
	// Wake is called when an owner has something to do. It must not block.
	Wake func(owner types.NamespacedName)
	// Writes bounds the writes in flight of all owners, OwnerWrites of one.
	Writes, OwnerWrites int
	Metrics             *metrics.Metrics
	Log                 logr.Logger
}

// Executor walks the graphs of owners of one kind. Safe for concurrent use;
// calls for one owner must not overlap, as a workqueue guarantees.
type Executor struct {
	cluster     *cluster.Cluster
	observer    *observer.Observer
	kinds       *observer.Kinds
	writer      *writer.Writer
	records     *inventory.Records
	recordStore *observer.Store
	evaluator   *readiness.Evaluator
	metrics     *metrics.Metrics
	log         logr.Logger
	manager     string
	selector    string
	wake        func(types.NamespacedName)
	ownerWrites int
	now         func() time.Time

	mu    sync.Mutex
	works map[types.UID]*work

	// orphans are records that may have outlived their owner.
	orphans workqueue.TypedRateLimitingInterface[types.NamespacedName]
	owned   refs[types.UID]
	named   refs[objectName]
}

// New returns an Executor. Nothing is watched or written before Run.
func New(o Options) (*Executor, error) {
	if o.Wake == nil || o.Cluster == nil || len(o.Key) < writer.KeySize {
		return nil, errors.New("cannot make an executor: cluster, wake and a key are needed")
	}
	if o.Writes <= 0 {
		o.Writes = defaultWrites
	}
	if o.OwnerWrites <= 0 {
		o.OwnerWrites = defaultOwnerWrites
	}
	if o.Scope == nil {
		o.Scope = writer.OwnNamespace{}
	}
	own, err := o.Cluster.Client(cluster.Account{})
	if err != nil {
		return nil, err
	}
	x := &Executor{
		cluster: o.Cluster, writer: writer.New(o.Key, o.Scope, o.Writes, o.Metrics),
		records:   inventory.NewRecords(own.Dynamic, o.Namespace),
		evaluator: readiness.NewEvaluator(), metrics: o.Metrics, log: o.Log,
		manager: o.Manager, selector: resource.ChildSelector(o.Manager, o.Slots), wake: o.Wake, ownerWrites: o.OwnerWrites, now: time.Now,
		works:   map[types.UID]*work{},
		orphans: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]()),
	}
	x.observer = observer.New(o.Cluster, observer.Options{Manager: writer.FieldManager, Handler: x.handle, Log: o.Log})
	x.kinds = observer.NewKinds(x.observer, x.kindChanged)
	x.recordStore = x.observer.Acquire(observer.Key{
		Resource: inventory.GVR, Selector: x.selector, MetadataOnly: true,
	})
	return x, nil
}

// Run watches until the context ends.
func (x *Executor) Run(ctx context.Context) error {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	tasks.Go(func() { x.measure(ctx) })
	tasks.Go(func() { x.releaseOrphans(ctx) })
	if err := x.observer.Run(ctx); err != nil {
		return fmt.Errorf("cannot run the observer: %w", err)
	}
	return nil
}

// measure tells the sizes of the caches now and then.
func (x *Executor) measure(ctx context.Context) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			stores, objects := x.observer.Sizes()
			x.metrics.Stores(stores)
			x.metrics.Objects(objects)
		}
	}
}

// childKey names the watch of an owner's children of one resource. The
// manager watches all it manages at once; an impersonated account may look
// only into its own namespace.
func (x *Executor) childKey(a cluster.Account, r schema.GroupVersionResource) observer.Key {
	k := observer.Key{Account: a, Resource: r, Selector: x.selector}
	if !a.Own() {
		k.Namespace = a.Namespace
	}
	return k
}

func (x *Executor) work(uid types.UID) *work {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.works[uid]
}

func (x *Executor) workFor(o *resource.Owner) *work {
	x.mu.Lock()
	defer x.mu.Unlock()
	w, ok := x.works[o.UID]
	if !ok {
		w = &work{x: x, key: o.Key()}
		x.works[o.UID] = w
		x.metrics.Owners(len(x.works))
	}
	return w
}

// Supersede stops what is under way for an older generation of an owner: no
// new write begins. Call it from the owner's event handler; the reconcile
// that follows compiles anew.
func (x *Executor) Supersede(uid types.UID, generation int64) {
	if w := x.work(uid); w != nil {
		w.supersede(generation)
	}
}

// Forget drops all that is kept for an owner that is gone.
func (x *Executor) Forget(uid types.UID) {
	x.mu.Lock()
	w := x.works[uid]
	delete(x.works, uid)
	x.metrics.Owners(len(x.works))
	x.mu.Unlock()
	if w != nil {
		w.close()
	}
	for _, item := range x.recordStore.ByOwner(uid) {
		x.recordChanged(item.Object)
	}
}
