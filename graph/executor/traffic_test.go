package executor

import (
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// traffic is an http.RoundTripper that notes requests for objects, as
// "create configmaps/a", and may hold some of them up.
type traffic struct {
	mu   sync.Mutex
	seen []string
	// before is called before each request is sent, outside the lock.
	before func(line string)
}

func (t *traffic) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(q *http.Request) (*http.Response, error) {
		if line := lineOf(q); line != "" {
			t.mu.Lock()
			t.seen = append(t.seen, line)
			before := t.before
			t.mu.Unlock()
			if before != nil {
				before(line)
			}
		}
		return next.RoundTrip(q)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

// lineOf names a request; "" for discovery and watches. The name of a new
// object is in the body and left out.
func lineOf(q *http.Request) string {
	parts := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	group := 2
	if parts[0] == "apis" {
		group = 3
	}
	if len(parts) <= group || q.URL.Query().Has("watch") {
		return ""
	}
	parts = parts[group:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	verb := map[string]string{http.MethodPost: "create", http.MethodDelete: "delete", http.MethodPatch: "patch", http.MethodGet: "get"}[q.Method]
	if verb == "get" && len(parts) == 1 {
		verb = "list"
	}
	return verb + " " + strings.Join(parts, "/")
}

func (t *traffic) hold(before func(line string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before = before
}

// take returns the requests since the last call that hold one of the words;
// all without words.
func (t *traffic) take(words ...string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := t.seen
	t.seen = nil
	return having(seen, words)
}

// look is take that forgets nothing.
func (t *traffic) look(words ...string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return having(t.seen, words)
}

func having(lines, words []string) []string {
	out := []string{}
	for _, line := range lines {
		found := len(words) == 0
		for _, word := range words {
			found = found || strings.Contains(line, word)
		}
		if found {
			out = append(out, line)
		}
	}
	return out
}

var getOptions = metav1.GetOptions{}

var writes = []string{"create ", "patch ", "delete "}
