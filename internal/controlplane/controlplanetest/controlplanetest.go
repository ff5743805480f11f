package controlplanetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/truss-dev/truss/internal/controlplane"
)

const (
	// RequireEnv set to 1 makes a missing control plane a failure.
	RequireEnv = "TRUSS_REQUIRE_LOCAL"
	// KeepEnv set to 1 keeps the directories of planes.
	KeepEnv = "TRUSS_KEEP_LOCAL"
)

// Main runs the tests of a package with one control plane and gives the exit
// code for os.Exit. Before the first test it hands the plane to use, which
// stores it; that is nil where the control plane was not built. Dir of the
// options is set by Main.
func Main(m *testing.M, o controlplane.Options, use func(*controlplane.Plane)) int {
	dir, err := os.MkdirTemp("", "truss-plane-")
	if err != nil {
		return fail(os.Stderr, err)
	}
	defer discard(dir, os.Stderr)
	o.Dir = dir
	plane, err := controlplane.Start(context.Background(), o)
	switch {
	case errors.Is(err, controlplane.ErrNoBinaries) && os.Getenv(RequireEnv) != "1":
		use(nil)
		return m.Run()
	case err != nil:
		return fail(os.Stderr, err)
	}
	use(plane)
	code := m.Run()
	if err := plane.Stop(); err != nil {
		return fail(os.Stderr, err)
	}
	return code
}

func fail(to io.Writer, err error) int {
	_, _ = fmt.Fprintln(to, "no control plane for the tests:", err)
	return 1
}

func discard(dir string, to io.Writer) {
	if os.Getenv(KeepEnv) == "1" {
		_, _ = fmt.Fprintln(to, "the control plane's files are in", dir)
		return
	}
	_ = os.RemoveAll(dir)
}

// Start gives a test a plane of its own, stopped at the test's end. An empty
// Dir of the options means a temporary one.
func Start(t testing.TB, o controlplane.Options) *controlplane.Plane {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	plane, err := controlplane.Start(t.Context(), o)
	if errors.Is(err, controlplane.ErrNoBinaries) {
		missing(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return plane
}

// Need skips the test, or fails it under TRUSS_REQUIRE_LOCAL=1, when plane is
// nil.
func Need(t testing.TB, plane *controlplane.Plane) {
	t.Helper()
	if plane == nil {
		missing(t)
	}
}

func missing(t testing.TB) {
	t.Helper()
	if os.Getenv(RequireEnv) == "1" {
		t.Fatal(controlplane.ErrNoBinaries)
	}
	t.Skip(controlplane.ErrNoBinaries)
}

// Client gives a client with the administrator's rights.
func Client(t testing.TB, plane *controlplane.Plane) kubernetes.Interface {
	t.Helper()
	Need(t, plane)
	client, err := kubernetes.NewForConfig(plane.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Namespace makes a namespace named after the test and gives its name. It is
// deleted at the test's end; nothing waits for it to be gone.
func Namespace(t testing.TB, plane *controlplane.Plane) string {
	t.Helper()
	namespaces := Client(t, plane).CoreV1().Namespaces()
	made, err := namespaces.Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: label(t.Name()) + "-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's own context has ended.
		_ = namespaces.Delete(context.Background(), made.Name, metav1.DeleteOptions{})
	})
	return made.Name
}

// label makes a test's name a DNS label with room for a suffix.
func label(name string) string {
	mapped := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(mapped[:min(len(mapped), 40)], "-")
}
