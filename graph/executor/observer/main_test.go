package observer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/internal/controlplane"
)

var update = flag.Bool("update", false, "write what the real API server answers to testdata")

// plane is the API server of the tests in *_plane_test.go; nil where it is not
// built. noPlane says why.
var (
	plane   *controlplane.Plane
	noPlane error
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runWithPlane(m))
}

func runWithPlane(m *testing.M) int {
	if testing.Short() {
		noPlane = errors.New("-short")
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "truss-observer-")
	if err != nil {
		noPlane = err
		return m.Run()
	}
	defer func() { _ = os.RemoveAll(dir) }()
	plane, noPlane = controlplane.Start(context.Background(), controlplane.Options{Dir: dir})
	if noPlane != nil && os.Getenv("TRUSS_REQUIRE_LOCAL") == "1" {
		fmt.Fprintln(os.Stderr, noPlane)
		return 1
	}
	if plane != nil {
		defer func() { _ = plane.Stop() }()
	}
	return m.Run()
}

// realCluster returns a handle on the plane with the rights of its admin.
func realCluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	if plane == nil {
		t.Skipf("needs the local control plane, run `make local`: %v", noPlane)
	}
	c, err := cluster.New(plane.AdminConfig(), cluster.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// world is one test's part of the real API server.
type world struct {
	t         *testing.T
	ctx       context.Context
	cluster   *cluster.Cluster
	client    *cluster.Client
	namespace string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := realCluster(t)
	client, err := c.Client(cluster.Account{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, ctx: t.Context(), cluster: c, client: client}
	ns := w.create("", `{apiVersion: v1, kind: Namespace, metadata: {generateName: observer-}}`)
	w.namespace = ns.GetName()
	t.Cleanup(func() {
		_ = client.Dynamic.Resource(namespaces).Delete(context.Background(), w.namespace, metav1.DeleteOptions{})
	})
	return w
}

// in reports to a subtest.
func (w *world) in(t *testing.T) *world {
	t.Helper()
	inner := *w
	inner.t, inner.ctx = t, t.Context()
	return &inner
}

var (
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

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

func (w *world) resource(u *unstructured.Unstructured) schema.GroupVersionResource {
	w.t.Helper()
	gvk := u.GroupVersionKind()
	m, err := w.cluster.Mapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		w.t.Fatal(err)
	}
	return m.Resource
}

// create posts an object as our field manager.
func (w *world) create(namespace, text string) *unstructured.Unstructured {
	w.t.Helper()
	u := parse(w.t, text)
	out, err := w.client.Dynamic.Resource(w.resource(u)).Namespace(namespace).
		Create(w.ctx, u, metav1.CreateOptions{FieldManager: DefaultManager})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// apply does a server-side apply with force.
func (w *world) apply(namespace, manager, text string, subresources ...string) *unstructured.Unstructured {
	w.t.Helper()
	u := parse(w.t, text)
	out, err := w.client.Dynamic.Resource(w.resource(u)).Namespace(namespace).
		Apply(w.ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: manager, Force: true}, subresources...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// run starts an observer and ends it with the test.
func (w *world) run(o Options) *Observer {
	w.t.Helper()
	obs := New(w.cluster, o)
	w.start(obs)
	return obs
}

func (w *world) start(obs *Observer) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- obs.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				w.t.Error(err)
			}
		case <-time.After(20 * time.Second):
			w.t.Error("the observer did not end")
		}
	})
}

// lines makes paths comparable.
func lines(paths []Path) string {
	var out []string
	for _, p := range paths {
		out = append(out, p.String())
	}
	return strings.Join(out, "\n")
}
