package observertest_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/observer/observertest"
)

// admin plays Truss in these tests.
const admin = "truss-local-admin"

// plane is the control plane of all tests of this package; nil when it was
// not built.
var plane *controlplane.Plane

func TestMain(m *testing.M) {
	os.Exit(controlplanetest.Main(m, controlplane.Options{}, func(p *controlplane.Plane) { plane = p }))
}

// recorder is a test that only records how it fails. What it does not define
// is the outer test's.
type recorder struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Cleanup(f func())  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// end runs the cleanups, as the end of a test does.
func (r *recorder) end() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

func collect(t *testing.T, client kubernetes.Interface, namespace string) {
	t.Helper()
	err := client.CoreV1().ConfigMaps(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "a=b"})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckFailsATestAtItsEndForItsNamespacesOnly(t *testing.T) {
	client := controlplanetest.Client(t, plane)
	outer := &recorder{TB: t}
	o := observertest.Start(outer, plane, admin)
	collect(t, client, "before")
	here, all := &recorder{TB: t}, &recorder{TB: t}
	observertest.Check(here, o, "here")
	observertest.Check(all, o)
	collect(t, client, "here")
	collect(t, client, "there")
	here.end()
	all.end()
	outer.end()
	for _, c := range []struct {
		name string
		r    *recorder
		want []string
	}{
		{"its own namespace, from then on", here, []string{"here"}},
		{"everywhere, from then on", all, []string{"here", "there"}},
		{"everywhere, from the start", outer, []string{"before", "here", "there"}},
	} {
		if len(c.r.errors) != len(c.want) {
			t.Errorf("%s: got %q", c.name, c.r.errors)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(c.r.errors[i], "S3 preconditions") || !strings.Contains(c.r.errors[i], want) {
				t.Errorf("%s: got %q, want %q", c.name, c.r.errors[i], want)
			}
		}
	}
}

func TestQuietFailsATestForEachRequest(t *testing.T) {
	client := controlplanetest.Client(t, plane)
	r := &recorder{TB: t}
	o := observertest.Start(r, plane, "system:nobody")
	observertest.Quiet(r, o, 10*time.Millisecond)
	if len(r.errors) > 0 {
		t.Errorf("nobody sent anything: %q", r.errors)
	}
	r.end()

	r = &recorder{TB: t}
	o = observertest.Start(r, plane, "system:kube-controller-manager", admin)
	ctx, stop := context.WithCancel(t.Context())
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for ctx.Err() == nil {
			_, _ = client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		}
	}()
	observertest.Quiet(r, o, 100*time.Millisecond)
	stop()
	<-asked
	if len(r.errors) == 0 || !strings.HasPrefix(r.errors[0], "S12 quiet: ") {
		t.Errorf("the requests of the window must fail the test: %q", r.errors)
	}
	r.end()
}
