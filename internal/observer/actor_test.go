package observer_test

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/observer"
)

var (
	bundles    = schema.GroupVersionResource{Group: "smith.atlassian.com", Version: "v1", Resource: "bundles"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// stage is one test's part of a plane: an administrator, someone who plays
// Truss, and the observer between them.
type stage struct {
	t         *testing.T
	namespace string
	admin     dynamic.Interface
	truss     dynamic.Interface
	observer  *observer.Observer
	since     time.Time
}

// newStage gives a test a namespace of p, which o observes.
func newStage(t *testing.T, p *controlplane.Plane, o *observer.Observer) *stage {
	t.Helper()
	controlplanetest.Need(t, p)
	return &stage{
		t: t, namespace: controlplanetest.Namespace(t, p), observer: o, since: time.Now(),
		admin: client(t, p.AdminConfig()), truss: client(t, trussConfig(t, p)),
	}
}

// observe follows a plane until ctx ends.
func observe(ctx context.Context, p *controlplane.Plane, o observer.Options) (*observer.Observer, error) {
	o.Config, o.AuditLog, o.Users = p.AdminConfig(), p.AuditLogPath(), []string{truss}
	return observer.Start(ctx, o)
}

func trussConfig(t *testing.T, p *controlplane.Plane) *rest.Config {
	t.Helper()
	cfg, err := p.ServiceAccountConfig(t.Context(), system, account)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func client(t *testing.T, cfg *rest.Config) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// do fails the test unless a step of the play succeeds.
func do[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(out T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// owner makes a Bundle and guards it as Truss does.
func (s *stage) owner(name string) *resource.Owner {
	s.t.Helper()
	u := object(bundles.GroupVersion().WithKind("Bundle"), s.namespace, name)
	u.Object["spec"] = map[string]any{"resources": []any{}}
	made := do[*unstructured.Unstructured](s.t)(s.admin.Resource(bundles).Namespace(s.namespace).Create(s.t.Context(), u, metav1.CreateOptions{}))
	o := &resource.Owner{
		UID: made.GetUID(), Kind: u.GroupVersionKind(), Resource: "bundles", Namespace: s.namespace, Name: name,
		Generation: 1, Manager: resource.ManagerCore, Finalizer: v1.Finalizer,
	}
	guard := object(o.Kind, s.namespace, name)
	guard.SetUID(o.UID)
	guard.SetFinalizers([]string{o.Finalizer})
	do[*unstructured.Unstructured](s.t)(s.truss.Resource(bundles).Namespace(s.namespace).
		Apply(s.t.Context(), name, guard, metav1.ApplyOptions{FieldManager: "truss-owner", Force: true}))
	return o
}

// record writes the owner's plan; later entries may need earlier ones.
func (s *stage) record(o *resource.Owner, entries ...inventory.Entry) {
	s.t.Helper()
	plan := &inventory.Plan{Entries: entries}
	encoded := do[inventory.Encoded](s.t)(plan.Encode())
	do[*unstructured.Unstructured](s.t)(inventory.NewRecords(s.truss, system).Write(s.t.Context(), o, encoded))
}

// entry plans a ConfigMap that needs the entries at the given positions.
func (s *stage) entry(name string, needs ...int32) inventory.Entry {
	return inventory.Entry{
		Identity: resource.Identity{Kind: "ConfigMap", Namespace: s.namespace, Name: name},
		Version:  "v1", Resource: "configmaps", Needs: needs,
	}
}

// child is a ConfigMap as Truss writes it.
func (s *stage) child(o *resource.Owner, name string) *unstructured.Unstructured {
	u := object(configMaps.GroupVersion().WithKind("ConfigMap"), s.namespace, name)
	if o != nil {
		u.SetLabels(o.Labels())
		u.SetAnnotations(map[string]string{resource.AppliedAnnotation: "1:hash:mac"})
	}
	return u
}

func (s *stage) create(by dynamic.Interface, r schema.GroupVersionResource, u *unstructured.Unstructured) *unstructured.Unstructured {
	s.t.Helper()
	return do[*unstructured.Unstructured](s.t)(by.Resource(r).Namespace(u.GetNamespace()).
		Create(s.t.Context(), u, metav1.CreateOptions{FieldManager: "truss"}))
}

// make creates children as Truss.
func (s *stage) make(o *resource.Owner, names ...string) (made []*unstructured.Unstructured) {
	s.t.Helper()
	for _, name := range names {
		made = append(made, s.create(s.truss, configMaps, s.child(o, name)))
	}
	return made
}

// remove deletes an object as Truss does.
func (s *stage) remove(u *unstructured.Unstructured) {
	s.t.Helper()
	uid := u.GetUID()
	err := s.truss.Resource(configMaps).Namespace(u.GetNamespace()).
		Delete(s.t.Context(), u.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil {
		s.t.Fatal(err)
	}
}

// applied applies an object as Truss does.
func (s *stage) applied(u *unstructured.Unstructured) {
	s.t.Helper()
	do[*unstructured.Unstructured](s.t)(s.truss.Resource(configMaps).Namespace(u.GetNamespace()).
		Apply(s.t.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "truss", Force: true}))
}

func (s *stage) patched(name string, kind types.PatchType, patch string) {
	s.t.Helper()
	do[*unstructured.Unstructured](s.t)(s.truss.Resource(configMaps).Namespace(s.namespace).
		Patch(s.t.Context(), name, kind, []byte(patch), metav1.PatchOptions{FieldManager: "truss"}))
}

func withUID(u *unstructured.Unstructured, uid types.UID) *unstructured.Unstructured {
	u.SetUID(uid)
	return u
}

// annotated adds an annotation.
func annotated(u *unstructured.Unstructured, name, value string) *unstructured.Unstructured {
	all := u.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[name] = value
	u.SetAnnotations(all)
	return u
}

// pod is a Pod that no node will run.
func (s *stage) pod(o *resource.Owner, name string) *unstructured.Unstructured {
	u := s.child(o, name)
	u.SetKind("Pod")
	u.Object["spec"] = map[string]any{
		"nodeSelector": map[string]any{"no": "where"},
		"containers":   []any{map[string]any{"name": "c", "image": "i"}},
	}
	return u
}

// ending deletes the owner, which its finalizer keeps.
func (s *stage) ending(o *resource.Owner) {
	s.t.Helper()
	if err := s.admin.Resource(bundles).Namespace(o.Namespace).Delete(s.t.Context(), o.Name, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// violations settles and gives the invariants that were broken since the stage
// was set, in order.
func (s *stage) violations() []observer.Invariant {
	s.t.Helper()
	s.settle()
	var out []observer.Invariant
	for _, v := range s.observer.Violations() {
		if v.Event.Received.Before(s.since) {
			continue
		}
		s.t.Log(v)
		if v.Namespace != s.namespace {
			s.t.Errorf("%s is said to be about namespace %q", v, v.Namespace)
		}
		out = append(out, v.Invariant)
	}
	return slices.Compact(out)
}

func (s *stage) settle() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	if err := s.observer.Settle(ctx); err != nil {
		s.t.Fatal(err)
	}
}

func object(gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}
