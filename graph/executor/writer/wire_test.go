package writer

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// wire is an http.RoundTripper that notes requests for objects in the words
// of Meter, and loses or forges answers.
type wire struct {
	mu   sync.Mutex
	seen []string
	// lose names an operation whose next answer is thrown away after the API
	// server gave it.
	lose string
	// instead is called in place of the next request of an operation; nil
	// lets it pass.
	instead map[string]func(*http.Request) (*http.Response, error)
	// before is called before the next request of an operation is sent.
	before map[string]func()
	bodies []string
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(q *http.Request) (*http.Response, error) { return w.send(next, q) })
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

func (w *wire) send(next http.RoundTripper, q *http.Request) (*http.Response, error) {
	op := operationOf(q)
	if op == "" {
		return next.RoundTrip(q)
	}
	instead, before, lost := w.note(op, q)
	if before != nil {
		before()
	}
	if instead != nil {
		return instead(q)
	}
	answer, err := next.RoundTrip(q)
	if err == nil && lost {
		_ = answer.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return answer, err
}

// note records a request and takes the faults that are meant for it.
func (w *wire) note(op string, q *http.Request) (instead func(*http.Request) (*http.Response, error), before func(), lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, op)
	if q.GetBody != nil {
		if body, err := q.GetBody(); err == nil {
			text, _ := io.ReadAll(body)
			w.bodies = append(w.bodies, string(text))
		}
	}
	instead, before, lost = w.instead[op], w.before[op], w.lose == op
	delete(w.instead, op)
	delete(w.before, op)
	if lost {
		w.lose = ""
	}
	return instead, before, lost
}

// operationOf names a request for an object; "" for discovery and watches.
func operationOf(q *http.Request) string {
	parts := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	if parts[0] == "api" && len(parts) <= 2 || parts[0] == "apis" && len(parts) <= 3 || q.URL.Query().Has("watch") {
		return ""
	}
	switch q.Method {
	case http.MethodPost:
		return "create"
	case http.MethodDelete:
		return "delete"
	case http.MethodPatch:
		return map[string]string{
			"application/apply-patch+yaml": "apply", "application/json-patch+json": "migrate",
			"application/merge-patch+json": "patch",
		}[q.Header.Get("Content-Type")]
	}
	return "get"
}

// take returns the operations since the last call, in one line.
func (w *wire) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := strings.Join(w.seen, " ")
	w.seen, w.bodies = nil, nil
	return out
}

// body returns the body of the last request that had one.
func (w *wire) body() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bodies) == 0 {
		return ""
	}
	return w.bodies[len(w.bodies)-1]
}
