package raw

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/truss-dev/truss/graph/resource"
)

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// Connections are clients each of which has a connection of its own, and one
// more that carries the watch.
type Connections struct {
	clients []dynamic.Interface
	watch   dynamic.Interface
}

// Connect opens n connections. apart gives a configuration a connection of its
// own. Their handshakes are over when it returns.
func Connect(ctx context.Context, c *rest.Config, n int, apart func(*rest.Config) *rest.Config) (*Connections, error) {
	out := &Connections{clients: make([]dynamic.Interface, n)}
	for i := range n {
		client, err := dynamic.NewForConfig(apart(c))
		if err != nil {
			return nil, fmt.Errorf("cannot make a client: %w", err)
		}
		out.clients[i] = client
	}
	var err error
	if out.watch, err = dynamic.NewForConfig(apart(c)); err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return out, out.each(ctx, n, func(ctx context.Context, client dynamic.Interface, _ int) error {
		_, err := client.Resource(namespaces).Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	})
}

// Len is the number of connections.
func (c *Connections) Len() int { return len(c.clients) }

// each calls do for 0 to n-1, one call at a time on each connection, in order,
// and gives the first error, after which no new call begins.
func (c *Connections) each(ctx context.Context, n int, do func(context.Context, dynamic.Interface, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var pool sync.WaitGroup
	var next atomic.Int64
	for _, client := range c.clients {
		pool.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, client, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	pool.Wait()
	return context.Cause(ctx)
}

// Follow opens the watch of all children of the baseline, as Truss has one of
// its own, and decodes what comes until stop is called.
func (c *Connections) Follow(ctx context.Context) (stop func(), err error) {
	w, err := c.watch.Resource(configMaps).Watch(ctx, metav1.ListOptions{LabelSelector: resource.ManagerLabel + "=" + managerLabel})
	if err != nil {
		return nil, fmt.Errorf("cannot watch the children of the baseline: %w", err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		drain(w)
	}()
	return func() { w.Stop(); <-drained }, nil
}

func drain(w watch.Interface) {
	for range w.ResultChan() {
		continue // decoding them was the point
	}
}
