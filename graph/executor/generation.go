package executor

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
)

// generation is one compiled graph of an owner and the run over it. A new
// generation of the owner replaces it whole.
type generation struct {
	x       *Executor
	owner   *resource.Owner
	account cluster.Account
	client  *cluster.Client
	graph   *resource.Graph
	run     *graph.Run
	nodes   []node
	index   map[resource.Identity]int
	// readers says which nodes have dependants that read more than identity.
	readers []bool
	// recordedBefore says that this graph's plan was stored before this
	// process walked it: any of its objects may exist already.
	recordedBefore bool
	// older are the active records of other plans.
	older []inventory.Ref
	begun time.Time
	// looked is set once every node was looked at with a synced watch; until
	// then the run has nothing to tell.
	looked bool
	// pruneYielded says that the removal of leftovers has more to do.
	pruneYielded bool
	// examples is the number of nodes whose early dry-run is done or not needed.
	examples int
	limit    limiter
	writes   atomic.Int64
	serial   atomic.Uint64
	// stamp counts changes of what is shown of the owner.
	stamp *atomic.Uint64

	// record guards the inventory of this generation.
	record recordState

	// mu guards stores, timers and the indices below.
	mu     sync.Mutex
	stores map[observer.Key]*observer.Store
	timers *timers
	// named and owned are the keys under which nodes of this generation wait
	// in the executor's indices.
	named map[objectName]struct{}
	owned map[types.UID]struct{}
}

func newGeneration(x *Executor, o *resource.Owner, g *resource.Graph, stamp *atomic.Uint64) (*generation, error) {
	account := accountOf(o)
	client, err := x.cluster.Client(account)
	if err != nil {
		return nil, err
	}
	n := &generation{
		x: x, stamp: stamp, owner: o, account: account, client: client, graph: g,
		run: graph.NewRun(g), nodes: make([]node, g.Len()),
		index:   make(map[resource.Identity]int, g.Len()),
		readers: make([]bool, g.Len()),
		limit:   make(limiter, x.ownerWrites),
		stores:  map[observer.Key]*observer.Store{},
		timers:  newTimers(),
		named:   map[objectName]struct{}{},
		owned:   map[types.UID]struct{}{},
	}
	for i := range n.nodes {
		n.nodes[i].def = &g.At(i).Payload
		n.index[n.nodes[i].def.Identity] = i
		for _, d := range g.Dependants(i) {
			n.readers[i] = n.readers[i] || !g.At(int(d)).Payload.Static
		}
	}
	return n, nil
}

// inherit takes over what was learned under the generation before, so that a
// change to one resource does not look at all others anew.
func (g *generation) inherit(old *generation) {
	for id, i := range g.index {
		j, ok := old.index[id]
		if !ok {
			continue
		}
		n, was := &g.nodes[i], &old.nodes[j]
		n.seen, n.createdAt = was.seen, was.createdAt
		n.memory = was.memory
	}
}

func (g *generation) acquire(k observer.Key) *observer.Store {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s, ok := g.stores[k]; ok {
		return s
	}
	s := g.x.observer.Acquire(k)
	g.stores[k] = s
	return s
}

// watches says whether the generation uses a watch.
func (g *generation) watches(k observer.Key) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.stores[k]
	return ok
}

// watchNamed wakes node i when an object outside the graph changes. The store
// sees its metadata only.
func (g *generation) watchNamed(i int, id resource.Identity, r schema.GroupVersionResource) *observer.Store {
	s := g.acquire(observer.Key{
		Account: g.account, Resource: r, Namespace: id.Namespace,
		Field: "metadata.name=" + id.Name, MetadataOnly: true, Slim: true,
	})
	name := objectName{r.GroupResource(), id.Namespace, id.Name}
	g.mu.Lock()
	g.named[name] = struct{}{}
	g.mu.Unlock()
	g.x.named.add(name, nodeRef{g, i})
	return s
}

// watchOwned wakes node i when an object appears or goes that the live object
// owns.
func (g *generation) watchOwned(i int, uid types.UID) {
	g.mu.Lock()
	g.owned[uid] = struct{}{}
	g.mu.Unlock()
	g.x.owned.add(uid, nodeRef{g, i})
}

// close ends the generation's interest in the cluster.
func (g *generation) close() {
	g.run.Supersede()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.stores {
		s.Release()
	}
	clear(g.stores)
	for uid := range g.owned {
		g.x.owned.remove(uid, g)
	}
	for name := range g.named {
		g.x.named.remove(name, g)
	}
}
