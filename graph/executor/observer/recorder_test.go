package observer

import (
	"net/http"
	"net/url"
	"sync"
)

// recorder notes the requests that pass a transport.
type recorder struct {
	mu   sync.Mutex
	seen []url.Values
}

func (r *recorder) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(q *http.Request) (*http.Response, error) {
		r.mu.Lock()
		r.seen = append(r.seen, q.URL.Query())
		r.mu.Unlock()
		return next.RoundTrip(q)
	})
}

func (r *recorder) queries() []url.Values {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]url.Values(nil), r.seen...)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }
