package executor

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/workqueue"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// host runs an Executor as a controller would, for owners whose graphs the
// test makes by hand.
type host struct {
	t         *testing.T
	ctx       context.Context
	namespace string
	traffic   *traffic
	cluster   *cluster.Cluster
	// others is what everybody else uses; it is not counted.
	others  dynamic.Interface
	options Options
	skew    atomic.Int64

	mu     sync.Mutex
	owners map[types.NamespacedName]*owner
	x      *Executor
	queue  workqueue.TypedDelayingInterface[types.NamespacedName]
	stop   func()
	cancel func()
}

// owner is one owner, and what was last reported of it.
type owner struct {
	h *host

	mu       sync.Mutex
	object   resource.Owner
	nodes    []graph.Node[resource.Node]
	fresh    bool
	deleting bool
	compiled int
	turns    int
	report   reported
	teardown *TeardownReport
}

// reported is a copy of what a test asks of a Report.
type reported struct {
	states  string
	status  map[graph.ID]NodeStatus
	left    []Object
	done    bool
	failure error
	err     error
}

func newHost(t *testing.T, change ...func(*Options)) *host {
	t.Helper()
	controlplanetest.Need(t, plane)
	h := &host{
		t: t, ctx: t.Context(), namespace: controlplanetest.Namespace(t, plane), traffic: &traffic{},
		owners: map[types.NamespacedName]*owner{},
	}
	cfg := plane.AdminConfig()
	others, err := dynamic.NewForConfig(cfg)
	h.must(err)
	h.others = others
	h.options = Options{Key: writer.Key(strings.Repeat("k", writer.KeySize)), Namespace: h.namespace, Manager: "test-" + h.namespace}
	for _, c := range change {
		c(&h.options)
	}
	cfg.Wrap(h.traffic.wrap)
	h.cluster, err = cluster.New(cfg, cluster.Options{Version: "test"})
	h.must(err)
	t.Cleanup(h.cluster.Close)
	h.start()
	t.Cleanup(func() { h.stop() })
	return h
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// start runs a new Executor, which knows of the owners what a new process would.
func (h *host) start() {
	h.t.Helper()
	queue := workqueue.NewTypedDelayingQueue[types.NamespacedName]()
	o := h.options
	o.Cluster, o.Wake = h.cluster, queue.Add
	x, err := New(o)
	h.must(err)
	x.now = func() time.Time { return time.Now().Add(time.Duration(h.skew.Load())) }
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := x.Run(ctx); err != nil {
			h.t.Error(err)
		}
	})
	for range 4 {
		running.Go(func() { h.work(ctx, x, queue) })
	}
	h.mu.Lock()
	h.x, h.queue = x, queue
	h.mu.Unlock()
	h.cancel = cancel
	h.stop = func() {
		cancel()
		queue.ShutDown()
		running.Wait()
	}
	h.wakeAll()
}

// restart ends the process, as far as the cluster can tell, and begins another.
func (h *host) restart() {
	h.t.Helper()
	h.stop()
	h.start()
}

func (h *host) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, o := range h.owners {
		o.mu.Lock()
		o.fresh = false
		o.report, o.compiled = reported{}, 0
		o.mu.Unlock()
		h.queue.Add(key)
	}
}

// skip lets time pass.
func (h *host) skip(d time.Duration) {
	h.skew.Add(int64(d))
	h.mu.Lock()
	defer h.mu.Unlock()
	for key := range h.owners {
		h.queue.Add(key)
	}
}

func (h *host) work(ctx context.Context, x *Executor, queue workqueue.TypedDelayingInterface[types.NamespacedName]) {
	for {
		key, ended := queue.Get()
		if ended {
			return
		}
		h.mu.Lock()
		o := h.owners[key]
		h.mu.Unlock()
		if after := o.reconcile(ctx, x); after > 0 {
			queue.AddAfter(key, after)
		}
		queue.Done(key)
	}
}

func (o *owner) reconcile(ctx context.Context, x *Executor) time.Duration {
	o.mu.Lock()
	object, nodes, fresh, deleting := o.object, o.nodes, o.fresh, o.deleting
	o.mu.Unlock()
	if deleting {
		return o.takeDown(ctx, x, &object)
	}
	r, err := x.Reconcile(ctx, &object, fresh, func() (*resource.Graph, error) {
		o.mu.Lock()
		o.compiled++
		o.mu.Unlock()
		return graph.New(nodes)
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.report.err = err
	o.turns++
	if err != nil {
		return 50 * time.Millisecond
	}
	if !r.NotSynced && r.Failure == nil {
		o.fresh = false
	}
	if object.Generation == o.object.Generation {
		o.report = copyOf(r)
	}
	return r.RequeueAfter
}

func (o *owner) takeDown(ctx context.Context, x *Executor, object *resource.Owner) time.Duration {
	r, err := x.Teardown(ctx, object)
	if err != nil {
		return 50 * time.Millisecond
	}
	if r.Done {
		x.Forget(object.UID)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.teardown == nil || !o.teardown.Done {
		o.teardown = r
	}
	if o.teardown.Done {
		return 0
	}
	return r.RequeueAfter
}

func copyOf(r *Report) reported {
	out := reported{failure: r.Failure, left: r.ToDelete, status: map[graph.ID]NodeStatus{}}
	words := make([]string, r.Len())
	for i := range words {
		s := r.Node(i)
		out.status[s.Name] = s
		words[i] = string(s.Name) + "=" + s.State.String()
	}
	out.states = strings.Join(words, " ")
	out.done = r.Counts.Done() && !r.NotSynced && !r.Superseded
	return out
}

// owner makes an owner, a real object since the garbage collector deletes what
// an absent one has.
func (h *host) owner(name string) *owner {
	h.t.Helper()
	u := h.create("{apiVersion: executor.example.com/v1, kind: Bond, metadata: {name: " + name + "}}")
	o := &owner{h: h, fresh: true, object: resource.Owner{
		UID: u.GetUID(), Kind: u.GroupVersionKind(), Resource: "bonds",
		Namespace: h.namespace, Name: name, Manager: h.options.Manager, Finalizer: "truss.dev/test",
	}}
	h.mu.Lock()
	h.owners[o.object.Key()] = o
	h.mu.Unlock()
	return o
}

// want gives the owner a new generation.
func (o *owner) want(nodes ...graph.Node[resource.Node]) {
	o.mu.Lock()
	o.object.Generation++
	o.nodes, o.report = nodes, reported{}
	object := o.object
	o.mu.Unlock()
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	o.h.x.Supersede(object.UID, object.Generation)
	o.h.queue.Add(object.Key())
}

// delete begins the owner's teardown.
func (o *owner) delete() {
	o.mu.Lock()
	o.deleting = true
	object := o.object
	o.mu.Unlock()
	o.h.mu.Lock()
	defer o.h.mu.Unlock()
	o.h.x.Supersede(object.UID, math.MaxInt64)
	o.h.queue.Add(object.Key())
}

func (o *owner) states() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.report.states
}

// String says how the owner stands, for failures.
func (o *owner) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := []string{fmt.Sprintf("%s; left %v, done %t, failure %v, error %v", o.report.states, o.report.left, o.report.done, o.report.failure, o.report.err)}
	for id, s := range o.report.status {
		lines = append(lines, fmt.Sprintf("%s: %s %s", id, s.Reason, s.Message))
	}
	return strings.Join(lines, "\n")
}

func (o *owner) ready() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.report.done
}

// settled is ready with nothing left to delete.
func (o *owner) settled() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.report.done && len(o.report.left) == 0
}

func (o *owner) status(id graph.ID) NodeStatus {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.report.status[id]
}

func (o *owner) reason(id graph.ID) func() string {
	return func() string { return o.status(id).Reason }
}

// takenDown returns the last report of the teardown.
func (o *owner) takenDown() TeardownReport {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.teardown == nil {
		return TeardownReport{}
	}
	return *o.teardown
}

func (o *owner) gone() bool { return o.takenDown().Done }

func (h *host) in(gvr schema.GroupVersionResource) dynamic.ResourceInterface {
	return h.others.Resource(gvr).Namespace(h.namespace)
}

// names lists the objects of a resource that belong to an owner.
func (o *owner) names(gvr schema.GroupVersionResource) []string {
	list, err := o.h.in(gvr).List(o.h.ctx, metav1.ListOptions{LabelSelector: resource.OwnerLabel + "=" + string(o.object.UID)})
	o.h.must(err)
	out := []string{}
	for i := range list.Items {
		out = append(out, list.Items[i].GetName())
	}
	return out
}
