package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/truss-dev/truss/bundle/v1"
)

// Seen is an event as the external watcher saw it. At is when it was decoded.
type Seen struct {
	At   time.Time `json:"-"`
	Type string
	// Object holds what any measure reads of an object; the rest is skipped.
	Object struct {
		Metadata struct {
			Name       string
			Generation int64
		}
		Data   map[string]string
		Status struct {
			ObservedGeneration int64
			Conditions         []metav1.Condition
			Message            string
		}
	}
}

// Ready says that an owner is Ready in the generation that it has.
func (s *Seen) Ready() bool {
	status := &s.Object.Status
	return status.ObservedGeneration == s.Object.Metadata.Generation && s.holds(v1.ConditionReady)
}

// Failed says that an owner is in Error.
func (s *Seen) Failed() bool { return s.holds(v1.ConditionError) }

func (s *Seen) holds(kind string) bool {
	for i := range s.Object.Status.Conditions {
		if c := &s.Object.Status.Conditions[i]; c.Type == kind {
			return c.Status == metav1.ConditionTrue
		}
	}
	return false
}

// Watch is the external clock: a watch on a connection of its own, which sees
// what any other client would see, when it would see it.
type Watch struct {
	events chan Seen
	ended  chan error
	closed chan struct{}
	body   io.Closer
}

// Watch opens a watch of one resource in a namespace, with a label selector
// that may be empty; what exists comes first, as ADDED. Close it.
func (r *Rig) Watch(ctx context.Context, gvr schema.GroupVersionResource, namespace, selector string) (*Watch, error) {
	body, err := r.watches.Get().AbsPath(path(gvr, namespace)).
		Param("watch", "true").Param("labelSelector", selector).
		SetHeader("Accept", "application/json").Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot watch %s in namespace %q: %w", gvr.Resource, namespace, err)
	}
	w := &Watch{events: make(chan Seen, 1024), ended: make(chan error, 1), closed: make(chan struct{}), body: body}
	go w.read(body)
	return w, nil
}

func (w *Watch) read(from io.Reader) {
	decoder := json.NewDecoder(from)
	for {
		var s Seen
		if err := decoder.Decode(&s); err != nil {
			w.ended <- err
			return
		}
		s.At = time.Now()
		select {
		case w.events <- s:
		case <-w.closed:
			return
		}
	}
}

// Close ends the watch. It must be called once.
func (w *Watch) Close() {
	close(w.closed)
	_ = w.body.Close()
}

// Until waits for an event that is wanted. An owner in Error ends the wait.
func (w *Watch) Until(ctx context.Context, what string, wanted func(*Seen) bool) (Seen, error) {
	for {
		select {
		case s := <-w.events:
			if wanted(&s) {
				return s, nil
			}
			if s.Failed() {
				return s, fmt.Errorf("cannot wait for %s: %q is in error: %s", what, s.Object.Metadata.Name, s.Object.Status.Message)
			}
		case err := <-w.ended:
			return Seen{}, fmt.Errorf("cannot wait for %s: the watch ended: %w", what, err)
		case <-ctx.Done():
			return Seen{}, fmt.Errorf("cannot wait for %s: %w", what, ctx.Err())
		}
	}
}
