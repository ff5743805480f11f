package reader_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/truss-dev/truss/internal/cli/reader"
)

// connect makes a Cluster of a server that gives one answer to everything.
func connect(t *testing.T, code int, kind, body string) *reader.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	flags := genericclioptions.NewConfigFlags(true)
	flags.APIServer = &server.URL
	c, err := reader.Connect(flags)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestErrorsSayWhatIsMissing(t *testing.T) {
	const notFound = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"bundles.smith.atlassian.com \"a\" not found","reason":"NotFound","details":{"name":"a","kind":"bundles"},"code":404}`
	cases := []struct {
		reason     string
		code       int
		kind, body string
		want       string
	}{
		{"the kind", 404, "text/plain", "404 page not found\n", `the server doesn't have a resource type "bundles" - is Truss installed?`},
		{"the Bundle", 404, "application/json", notFound, `bundles.smith.atlassian.com "a" not found`},
	}
	for _, c := range cases {
		_, err := connect(t, c.code, c.kind, c.body).Bundle(t.Context(), "a")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}

func TestNamesAreReadFromWholeObjectsToo(t *testing.T) {
	c := connect(t, 200, "application/json", `{"kind":"BundleList","apiVersion":"smith.atlassian.com/v1","items":[{"metadata":{"name":"b"},"spec":{}},{"metadata":{"name":"a"}}]}`)
	names, err := c.Names(t.Context(), 10)
	if err != nil || len(names) != 2 || names[0] != "a" || names[1] != "b" {
		t.Errorf("%q, %v", names, err)
	}
	if c.Namespace != "default" {
		t.Errorf("namespace %q", c.Namespace)
	}
}
