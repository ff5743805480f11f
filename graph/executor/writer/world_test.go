package writer

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	testKey    = Key(strings.Repeat("k", KeySize))
)

// world is one test's namespace, seen by a Writer through a wire.
type world struct {
	t         *testing.T
	ctx       context.Context
	namespace string
	wire      *wire
	cluster   *cluster.Cluster
	client    *cluster.Client
	// others is what everybody else uses; it does not pass the wire.
	others   dynamic.Interface
	observer *observer.Observer
	writer   *Writer
	owner    *resource.Owner
	skew     time.Duration
}

func newWorld(t *testing.T) *world {
	t.Helper()
	controlplanetest.Need(t, plane)
	w := &world{t: t, ctx: t.Context(), wire: &wire{}, namespace: controlplanetest.Namespace(t, plane)}
	cfg := plane.AdminConfig()
	others, err := dynamic.NewForConfig(cfg)
	w.must(err)
	w.others = others
	cfg.Wrap(w.wire.wrap)
	w.cluster, err = cluster.New(cfg, cluster.Options{Version: "test"})
	w.must(err)
	t.Cleanup(w.cluster.Close)
	w.client, err = w.cluster.Client(cluster.Account{})
	w.must(err)
	w.observer = observer.New(w.cluster, observer.Options{})
	w.owner = w.newOwner("owner")
	w.writer = New(testKey, OwnNamespace{}, 4, noMeter{})
	w.writer.now = func() time.Time { return time.Now().Add(w.skew) }
	return w
}

// in reports to a subtest.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	inner := *w
	inner.t, inner.ctx = t, t.Context()
	return &inner
}

// newOwner makes a real object to own others, since the garbage collector
// deletes what an absent owner has.
func (w *world) newOwner(name string) *resource.Owner {
	w.t.Helper()
	u := w.post(`{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `}}`)
	return &resource.Owner{
		UID: u.GetUID(), Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Resource: "configmaps",
		Namespace: w.namespace, Name: name, Generation: 1, Manager: resource.ManagerCore, Finalizer: "truss.dev/test",
	}
}

type noMeter struct{}

func (noMeter) Applied(string, string, string, time.Duration) {}

func (noMeter) InflightWrites(int) {}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// child is one object of an owner, with what the executor would keep of it.
type child struct {
	w       *world
	owner   *resource.Owner
	id      resource.Identity
	version string
	desired *unstructured.Unstructured
	needs   []metav1.OwnerReference
	memory  Memory
	store   *observer.Store
	known   bool
	before  func(context.Context) error
}

// child begins with nothing known of the object.
func (w *world) child(text string) *child {
	w.t.Helper()
	u := parse(w.t, text)
	gvk := u.GroupVersionKind()
	c := &child{
		w: w, owner: w.owner, version: gvk.Version, desired: u,
		id: resource.Identity{Group: gvk.Group, Kind: gvk.Kind, Namespace: w.namespace, Name: u.GetName()},
	}
	c.store = w.observer.Acquire(observer.Key{Resource: c.gvr(), Selector: resource.ManagerLabel + "=" + resource.ManagerCore})
	return c
}

// restarted is the same object for a process that remembers nothing but what
// a watch shows it.
func (c *child) restarted() *child {
	next := *c
	next.memory, next.known = Memory{}, false
	next.store = c.w.observer.Acquire(observer.Key{Resource: c.gvr(), Namespace: c.w.namespace, Selector: resource.ManagerLabel + "=" + resource.ManagerCore})
	next.seen()
	return &next
}

func (c *child) gvr() schema.GroupVersionResource {
	c.w.t.Helper()
	m, err := c.w.cluster.Mapping(c.id.GroupKind(), c.version)
	c.w.must(err)
	return m.Resource
}

func (c *child) want(text string) { c.desired = parse(c.w.t, text) }

// request is what the executor would ask for now.
func (c *child) request() (*Request, error) {
	desired, err := Prepare(c.owner, c.id, c.desired, c.needs)
	if err != nil {
		return nil, err
	}
	m, err := c.w.cluster.Mapping(c.id.GroupKind(), c.version)
	if err != nil {
		return nil, err
	}
	r := &Request{
		Owner: c.owner, Desired: desired, Mapping: m, Client: c.w.client, Known: c.known,
		Recorder: c.store, Memory: &c.memory, BeforeCreate: c.before,
	}
	if item, presence := c.store.Get(c.id.Namespace, c.id.Name); presence == observer.Present {
		r.Live = &item
	}
	return r, nil
}

// ensure has the writer look once, and returns which requests that took.
func (c *child) ensure() (Outcome, *Failure, string) {
	c.w.t.Helper()
	r, err := c.request()
	c.w.must(err)
	c.w.wire.take()
	out, f := c.w.writer.Ensure(c.w.ctx, r)
	c.known = c.known || out.Wrote || r.Live != nil
	return out, f, c.w.wire.take()
}

// ensured is ensure where nothing may stand in the way.
func (c *child) ensured() (Outcome, string) {
	c.w.t.Helper()
	out, f, requests := c.ensure()
	if f != nil {
		c.w.t.Fatalf("cannot ensure %s: %s: %v", c.id, f.Reason, f)
	}
	return out, requests
}

// converged looks until nothing is in the way, where a controller writes to the
// object at the same time.
func (c *child) converged() Outcome {
	c.w.t.Helper()
	var out Outcome
	gomega.NewWithT(c.w.t).Eventually(func() string {
		c.seen()
		var f *Failure
		out, f, _ = c.ensure()
		return reasonOf(f)
	}, "10s", "10ms").Should(gomega.BeEmpty())
	return out
}

// seen hands the live object to the store, as the watch would.
func (c *child) seen() { c.store.Observe(c.live()) }

func (c *child) live() *unstructured.Unstructured {
	c.w.t.Helper()
	u, err := c.w.others.Resource(c.gvr()).Namespace(c.id.Namespace).Get(c.w.ctx, c.id.Name, metav1.GetOptions{})
	c.w.must(err)
	return u
}

// edit is a merge patch by somebody else, seen by the watch.
func (c *child) edit(patch string, subresources ...string) {
	c.w.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(patch))
	c.w.must(err)
	_, err = c.w.others.Resource(c.gvr()).Namespace(c.id.Namespace).
		Patch(c.w.ctx, c.id.Name, types.MergePatchType, raw, metav1.PatchOptions{FieldManager: "somebody"}, subresources...)
	c.w.must(err)
	c.seen()
}

// applied is a server-side apply by somebody else, seen by the watch.
func (c *child) applied(manager, text string) {
	c.w.t.Helper()
	_, err := c.w.others.Resource(c.gvr()).Namespace(c.id.Namespace).
		Apply(c.w.ctx, c.id.Name, parse(c.w.t, text), metav1.ApplyOptions{FieldManager: manager, Force: true})
	c.w.must(err)
	c.seen()
}

// remove has the writer take the object down, and returns the requests.
func (c *child) remove(final bool) (Removed, *Failure, string) {
	c.w.t.Helper()
	r := c.removal(final)
	c.w.wire.take()
	out, f := c.w.writer.Delete(c.w.ctx, r)
	return out, f, c.w.wire.take()
}

func (c *child) removal(final bool) *Removal {
	c.w.t.Helper()
	return &Removal{
		Owner: c.owner, Client: c.w.client, Own: c.w.client, Final: final, Recorder: c.store,
		Entry: &inventory.Entry{Identity: c.id, Version: c.version, Resource: c.gvr().Resource},
	}
}

// post creates an object of somebody else.
func (w *world) post(text string) *unstructured.Unstructured {
	w.t.Helper()
	u := parse(w.t, text)
	gvk := u.GroupVersionKind()
	resources := map[string]string{"ConfigMap": "configmaps", "Thing": "things", "ResourceQuota": "resourcequotas", "Secret": "secrets"}
	out, err := w.others.Resource(gvk.GroupVersion().WithResource(resources[gvk.Kind])).Namespace(w.namespace).
		Create(w.ctx, u, metav1.CreateOptions{FieldManager: "somebody"})
	w.must(err)
	return out
}

// replace has somebody else delete an object and make another of its name.
func (w *world) replace(c *child) {
	w.t.Helper()
	w.must(w.others.Resource(c.gvr()).Namespace(w.namespace).Delete(w.ctx, c.id.Name, metav1.DeleteOptions{}))
	w.post(configMap("{k: theirs}"))
}
