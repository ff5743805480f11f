package reader

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/truss-dev/truss/bundle/v1"
)

// store keeps the newest of each object that a reflector hears of, by name.
type store[T any] struct {
	changed func()

	mu      sync.Mutex
	items   map[string]*T
	synced  bool
	refused bool
}

func newStore[T any](changed func()) *store[T] {
	return &store[T]{changed: changed, items: map[string]*T{}}
}

// all returns the objects, and whether there was an answer yet.
func (s *store[T]) all() (items []*T, synced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range s.items {
		items = append(items, item)
	}
	return items, s.synced
}

// answered reports whether there was an answer, be it a refusal.
func (s *store[T]) answered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.synced || s.refused
}

// refuse forgets what is kept, since it will not be kept up any more.
func (s *store[T]) refuse() {
	s.mu.Lock()
	s.synced, s.refused = false, true
	s.mu.Unlock()
	s.changed()
}

// Add implements cache.ReflectorStore.
func (s *store[T]) Add(object any) error { return s.set(object, false) }

// Update implements cache.ReflectorStore.
func (s *store[T]) Update(object any) error { return s.set(object, false) }

// Delete implements cache.ReflectorStore.
func (s *store[T]) Delete(object any) error { return s.set(object, true) }

// Resync implements cache.ReflectorStore.
func (s *store[T]) Resync() error { return nil }

// Replace implements cache.ReflectorStore.
func (s *store[T]) Replace(objects []any, _ string) error {
	items := make(map[string]*T, len(objects))
	for _, object := range objects {
		name, item, err := named[T](object)
		if err != nil {
			return err
		}
		items[name] = item
	}
	s.mu.Lock()
	s.items, s.synced = items, true
	s.mu.Unlock()
	s.changed()
	return nil
}

func (s *store[T]) set(object any, gone bool) error {
	name, item, err := named[T](object)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if gone {
		delete(s.items, name)
	} else {
		s.items[name] = item
	}
	s.mu.Unlock()
	s.changed()
	return nil
}

func named[T any](object any) (string, *T, error) {
	item, ok := object.(*T)
	if !ok {
		return "", nil, fmt.Errorf("cannot keep a %T", object)
	}
	o, ok := object.(metav1.Object)
	if !ok {
		return "", nil, fmt.Errorf("cannot name a %T", object)
	}
	return o.GetName(), item, nil
}

// source says what a reflector lists and watches.
type source struct {
	request func(*rest.RESTClient) *rest.Request
	options metav1.ListOptions
	object  runtime.Object
	list    func() metav1.ListInterface
	// refused is told when the server does not allow it; trying again is of no
	// use then.
	refused func(error)
}

func (c *Cluster) bundles(client *rest.RESTClient) *rest.Request {
	return client.Get().Namespace(c.Namespace).Resource(v1.BundlePlural)
}

func (c *Cluster) at(path []string) func(*rest.RESTClient) *rest.Request {
	return func(client *rest.RESTClient) *rest.Request { return client.Get().AbsPath(path...) }
}

// start runs a reflector until ctx ends.
func (f *Follower) start(ctx context.Context, into cache.ReflectorStore, from source) {
	r := cache.NewReflectorWithOptions(f.cluster.listWatch(from), from.object, into, cache.ReflectorOptions{})
	f.running.Go(func() { r.RunWithContext(ctx) })
}

func (c *Cluster) listWatch(from source) *cache.ListWatch {
	merge := func(o metav1.ListOptions) metav1.ListOptions {
		o.FieldSelector, o.LabelSelector = from.options.FieldSelector, from.options.LabelSelector
		return o
	}
	check := func(err error) error {
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err) {
			from.refused(err)
		}
		return err
	}
	_, whole := from.object.(*v1.Bundle)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := from.list()
			request := withOptions(from.request(c.client), merge(o))
			if !whole {
				request.SetHeader("Accept", acceptMetadataList)
			}
			if err := check(read(ctx, request, list)); err != nil {
				return nil, err
			}
			out, ok := list.(runtime.Object)
			if !ok {
				return nil, fmt.Errorf("cannot list into a %T", list)
			}
			return out, nil
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o = merge(o)
			o.Watch = true
			request := withOptions(from.request(c.streams), o)
			if !whole {
				request.SetHeader("Accept", acceptMetadata)
			}
			w, err := request.Watch(ctx)
			return w, check(err)
		},
	}
}
