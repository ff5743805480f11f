package cluster

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func TestUserName(t *testing.T) {
	cases := map[string]struct {
		account Account
		want    string
		reason  string
	}{
		"service account": {Account{"ns", "sa"}, "system:serviceaccount:ns:sa", "the name the API server gives it"},
		"manager":         {Account{}, "", "the manager impersonates nobody"},
		"no name":         {Account{Namespace: "ns"}, "", "half an account is nobody"},
		"no namespace":    {Account{ServiceAccount: "sa"}, "", "half an account is nobody"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.account.UserName(); got != c.want {
				t.Errorf("%s: %q", c.reason, got)
			}
		})
	}
}

func TestRequestsCarryOnlyTheUserNameOfTheAccount(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}`)
	}))
	defer server.Close()
	c, err := New(&rest.Config{Host: server.URL}, Options{Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		account Account
		want    []string
		reason  string
	}{
		"manager": {Account{}, nil, "the manager's own requests impersonate nobody"},
		"account": {Account{"ns", "sa"}, []string{"system:serviceaccount:ns:sa"}, "groups are added by the API server"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			client, err := c.Client(tc.account)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Dynamic.Resource(configMaps).Namespace("ns").Get(context.Background(), "a", metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Values("Impersonate-User")); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			for header := range got {
				if strings.HasPrefix(header, "Impersonate-") && header != "Impersonate-User" {
					t.Errorf("unexpected header %s", header)
				}
			}
			if agent := got.Get("User-Agent"); agent != "truss/1.2.3" {
				t.Errorf("user agent %q", agent)
			}
		})
	}
}

func TestNobodyIsNeverImpersonated(t *testing.T) {
	sent := atomic.Int32{}
	next := roundTripper(func(*http.Request) (*http.Response, error) {
		sent.Add(1)
		return nil, errors.New("sent")
	})
	request := func(header string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader("x"))
		if header != "" {
			r.Header.Set(header, "system:masters")
		}
		return r
	}
	cases := map[string]struct {
		user, header, reason string
	}{
		"empty user":  {"", "", "an empty header is no header: the request would run as the manager"},
		"other group": {"system:serviceaccount:ns:sa", "Impersonate-Group", "nobody else may add identities"},
		"other user":  {"system:serviceaccount:ns:sa", "Impersonate-User", "nobody else may set the user"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := (&impersonator{user: c.user, next: next}).RoundTrip(request(c.header)); err == nil || sent.Load() != 0 {
				t.Errorf("%s: sent %d, %v", c.reason, sent.Load(), err)
			}
		})
	}
	c, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client(Account{Namespace: "ns"}); !errors.Is(err, ErrNoUser) {
		t.Errorf("half an account gives no client, got %v", err)
	}
}

func TestConfigurationThatImpersonatesIsRefused(t *testing.T) {
	_, err := New(&rest.Config{Host: "http://x", Impersonate: rest.ImpersonationConfig{UserName: "someone"}}, Options{})
	if err == nil {
		t.Error("its user would be replaced without a trace")
	}
}

func TestClientsAreMadeOncePerAccount(t *testing.T) {
	c, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.Client(Account{"ns", "sa"})
	b, _ := c.Client(Account{"ns", "sa"})
	own, _ := c.Client(Account{})
	if a != b || a == own {
		t.Error("one client per account")
	}
	c.Forget(Account{"ns", "sa"})
	if again, _ := c.Client(Account{"ns", "sa"}); again == a {
		t.Error("a forgotten account has no client")
	}
}

func TestWatchesHaveConnectionsOfTheirOwn(t *testing.T) {
	count := func(n *atomic.Int32) http.RoundTripper {
		return roundTripper(func(*http.Request) (*http.Response, error) {
			n.Add(1)
			return nil, errors.New("sent")
		})
	}
	var a, b, w atomic.Int32
	s := &spread{requests: []http.RoundTripper{count(&a), count(&b)}, watches: []http.RoundTripper{count(&w)}}
	for range 4 {
		_, _ = s.RoundTrip(httptest.NewRequest(http.MethodPost, "/api/v1/pods", nil))
	}
	_, _ = s.RoundTrip(httptest.NewRequest(http.MethodGet, "/api/v1/pods?watch=true", nil))
	_, _ = s.RoundTrip(httptest.NewRequest(http.MethodGet, "/api/v1/pods?allowWatchBookmarks=true&watch=true", nil))
	if a.Load() != 2 || b.Load() != 2 || w.Load() != 2 {
		t.Errorf("requests %d and %d, watches %d", a.Load(), b.Load(), w.Load())
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
