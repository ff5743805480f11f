package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/observer/observertest"
)

// How long a promise may take on a machine that others use, too. The garbage
// collector notices a new kind within 30 s, and a custom resource that is
// deleted in the foreground waits for it.
const (
	patience = time.Minute
	poll     = 25 * time.Millisecond
)

// world is a namespace of its own and an administrator's view of it.
type world struct {
	*WithT
	t      *testing.T
	ns     string
	client dynamic.Interface
	core   kubernetes.Interface
}

// newWorld makes a namespace for a test.
func newWorld(t *testing.T) *world {
	t.Helper()
	controlplanetest.Need(t, plane)
	if err := running.failed(); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(plane.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{WithT: NewWithT(t), t: t, ns: controlplanetest.Namespace(t, plane), client: client, core: controlplanetest.Client(t, plane)}
	w.SetDefaultEventuallyTimeout(patience)
	w.SetDefaultEventuallyPollingInterval(poll)
	observertest.Check(t, outsider, w.ns)
	t.Cleanup(w.explain)
	return w
}

// explain shows the Bundles of a test that failed.
func (w *world) explain() {
	if !w.t.Failed() {
		return
	}
	list, err := w.client.Resource(bundles).Namespace(w.ns).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range list.Items {
		b := &v1.Bundle{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, b); err != nil {
			continue
		}
		w.t.Logf("Bundle %s generation %d observed %d %s: %s", b.Name, b.Generation, b.Status.ObservedGeneration, b.Status.Progress, b.Status.Message)
		for _, r := range b.Status.ResourceStatuses {
			w.t.Logf("  %s: %v", r.Name, stateOf(r.Conditions))
		}
	}
}

// of gives the objects of a resource in the namespace.
func (w *world) of(r schema.GroupVersionResource) dynamic.ResourceInterface {
	return w.client.Resource(r).Namespace(w.ns)
}

// get reads an object that must exist.
func (w *world) get(r schema.GroupVersionResource, name string) *unstructured.Unstructured {
	w.t.Helper()
	u, err := w.of(r).Get(w.t.Context(), name, metav1.GetOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	return u
}

// gone says whether an object does not exist.
func (w *world) gone(r schema.GroupVersionResource, name string) func() bool {
	return func() bool {
		_, err := w.of(r).Get(w.t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}
}

// field reads a field of an object, nil while either is not there. Keys may
// hold dots: they are given one by one.
func (w *world) field(r schema.GroupVersionResource, name string, path ...string) func() any {
	return func() any {
		u, err := w.of(r).Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return nil
		}
		v, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
		return v
	}
}

// bundle reads a Bundle; an empty one when it does not exist.
func (w *world) bundle(name string) *v1.Bundle {
	b := &v1.Bundle{}
	u, err := w.of(bundles).Get(w.t.Context(), name, metav1.GetOptions{})
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, b)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Log(err)
	}
	return b
}

// ready waits until a Bundle is Ready in its newest generation.
func (w *world) ready(name string) {
	w.t.Helper()
	w.Eventually(func() bool {
		b := w.bundle(name)
		return b.Generation > 0 && b.Status.ObservedGeneration == b.Generation && meta.IsStatusConditionTrue(b.Status.Conditions, v1.ConditionReady)
	}).Should(BeTrue(), "%s is not Ready", name)
}

// settled waits until a Bundle is Ready and has nothing left to delete.
func (w *world) settled(name string) {
	w.t.Helper()
	w.ready(name)
	w.Eventually(func() int { return len(w.bundle(name).Status.ObjectsToDelete) }).Should(BeZero())
}

// remove deletes a Bundle and waits until it is gone.
func (w *world) remove(name string) {
	w.t.Helper()
	w.Expect(w.of(bundles).Delete(w.t.Context(), name, metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.gone(bundles, name)).Should(BeTrue(), "%s is not gone", name)
}

// state is how a resource of a Bundle stands: "Ready", or "State Reason:
// message" with the message of the condition.
func (w *world) state(bundle, resource string) func() string {
	return func() string {
		b := w.bundle(bundle)
		if b.Status.ObservedGeneration != b.Generation {
			return "not observed yet"
		}
		for _, r := range b.Status.ResourceStatuses {
			if r.Name == resource {
				return stateOf(r.Conditions)
			}
		}
		return "not listed"
	}
}

func stateOf(conditions []metav1.Condition) string {
	for _, t := range []string{v1.ConditionError, v1.ConditionBlocked, v1.ConditionInProgress, v1.ConditionReady} {
		if c := meta.FindStatusCondition(conditions, t); c != nil && c.Status == metav1.ConditionTrue {
			return fmt.Sprintf("%s %s: %s", c.Type, c.Reason, c.Message)
		}
	}
	return "Unknown"
}

// events are the events of a Bundle, "Type Reason note".
func (w *world) events(bundle string) func() []string {
	return func() []string {
		list, err := w.core.EventsV1().Events(w.ns).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			return nil
		}
		var out []string
		for i := range list.Items {
			if e := &list.Items[i]; e.Regarding.Kind == "Bundle" && e.Regarding.Name == bundle {
				out = append(out, strings.Join([]string{e.Type, e.Reason, e.Note}, " "))
			}
		}
		return out
	}
}
