package observer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/truss-dev/truss/graph/executor/cluster"
)

// fakeAPI speaks as much list and watch as a Reflector needs, for what a real
// API server cannot be made to do on demand.
type fakeAPI struct {
	*httptest.Server
	mu       sync.Mutex
	version  string
	objects  []*unstructured.Unstructured
	refusal  int // status of every request; 0 for none
	requests int
	lists    int         // requests for all objects, streamed or not
	events   chan string // raw lines for the open watch
}

func newFakeAPI(t *testing.T, version string, objects ...*unstructured.Unstructured) *fakeAPI {
	t.Helper()
	f := &fakeAPI{version: version, objects: objects, events: make(chan string)}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *fakeAPI) cluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New(&rest.Config{Host: f.URL}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (f *fakeAPI) set(version string, objects ...*unstructured.Unstructured) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version, f.objects = version, objects
}

func (f *fakeAPI) refuse(status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusal = status
}

func (f *fakeAPI) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// expire ends the open watches the way the API server does when a version is
// too old.
func (f *fakeAPI) expire() {
	f.events <- `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}}`
}

// cut ends the open watch without an error.
func (f *fakeAPI) cut() { f.events <- "" }

func (f *fakeAPI) listed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lists
}

func (f *fakeAPI) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests++
	if q := r.URL.Query(); q.Get("watch") == "" || q.Get("sendInitialEvents") == "true" {
		f.lists++
	}
	refusal, version, objects := f.refusal, f.version, f.objects
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if refusal != 0 {
		w.WriteHeader(refusal)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reasonOf(refusal), refusal)
		return
	}
	if r.URL.Query().Get("watch") == "" {
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":%q},"items":%s}`, version, encode(objects))
		return
	}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		for _, u := range objects {
			send(w, fmt.Sprintf(`{"type":"ADDED","object":%s}`, encode(u)))
		}
		send(w, fmt.Sprintf(`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":%q,"annotations":{"k8s.io/initial-events-end":"true"}}}}`, version))
	}
	f.stream(w, r)
}

func (f *fakeAPI) stream(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case line := <-f.events:
			if line == "" {
				return
			}
			send(w, line)
		}
	}
}

func send(w http.ResponseWriter, line string) {
	_, _ = fmt.Fprintln(w, line)
	w.(http.Flusher).Flush()
}

func reasonOf(status int) string {
	switch status {
	case http.StatusNotFound:
		return "NotFound"
	case http.StatusForbidden:
		return "Forbidden"
	case http.StatusTooManyRequests:
		return "TooManyRequests"
	}
	return "InternalError"
}

func encode(v any) string {
	if objects, ok := v.([]*unstructured.Unstructured); ok && objects == nil {
		return "[]"
	}
	raw, _ := json.Marshal(v) // test objects always encode
	return string(raw)
}

// runUntil runs an observer and returns a function that ends it and says how
// long that took.
func runUntil(t *testing.T, o *Observer) (end func() time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		_ = o.Run(ctx)
		close(done)
	}()
	var once sync.Once
	var took time.Duration
	end = func() time.Duration {
		once.Do(func() {
			started := time.Now()
			cancel()
			<-done
			took = time.Since(started)
		})
		return took
	}
	t.Cleanup(func() { end() })
	return end
}
