package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// plane is the control plane of all tests of this package; nil when it was
// not built. No manager runs on it: the tests write the status.
var plane *controlplane.Plane

func TestMain(m *testing.M) {
	os.Exit(controlplanetest.Main(m, controlplane.Options{}, func(p *controlplane.Plane) {
		plane = p
		if p == nil {
			return
		}
		crds, err := deploy.CRDs()
		if err == nil {
			err = p.Apply(context.Background(), crds...)
		}
		if err != nil {
			panic(err)
		}
	}))
}

// command is `truss trace` against the plane, with the requests it makes.
type command struct {
	t    *testing.T
	args []string

	mu       sync.Mutex
	out      bytes.Buffer
	code     int
	requests []string
}

func newCommand(t *testing.T, namespace string, args ...string) *command {
	t.Helper()
	controlplanetest.Need(t, plane)
	return &command{t: t, args: append(args, "--kubeconfig", plane.KubeconfigPath(), "-n", namespace, "--cache-dir", t.TempDir())}
}

// Write implements io.Writer.
func (c *command) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

func (c *command) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// run gives the error and the exit code of the command, 0 or the one it asked
// for.
func (c *command) run(ctx context.Context) (int, error) {
	cmd, t := newTrace(Process{
		Getenv: func(name string) string { return map[string]string{"LANG": "C.UTF-8"}[name] },
		Exit:   func(code int) { c.code = code },
	})
	t.flags.WithWrapConfigFn(func(config *rest.Config) *rest.Config {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return recorder{c, next} })
		return config
	})
	cmd.SetOut(c)
	cmd.SetErr(c)
	cmd.SetArgs(c.args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(ctx)
	return c.code, err
}

type recorder struct {
	c    *command
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.c.mu.Lock()
	r.c.requests = append(r.c.requests, request.Method+" "+request.URL.Path)
	r.c.mu.Unlock()
	return r.next.RoundTrip(request)
}

// asked counts the requests that end so, discovery left out.
func (c *command) asked(suffix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, r := range c.requests {
		if strings.HasSuffix(r, suffix) {
			n++
		}
	}
	return n
}

func resources(t *testing.T, r schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(plane.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(r).Namespace(namespace)
}

// create makes an object from YAML.
func create(t *testing.T, r schema.GroupVersionResource, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	created, err := resources(t, r, namespace).Create(t.Context(), u, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// setStatus writes a Bundle's status as a manager would.
func setStatus(t *testing.T, namespace, name string, s v1.BundleStatus) {
	t.Helper()
	data, err := json.Marshal([]any{map[string]any{"op": "add", "path": "/status", "value": s}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = resources(t, v1.BundleGVR, namespace).Patch(t.Context(), name, "application/json-patch+json", data, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
}
