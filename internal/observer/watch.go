package observer

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// retry is how a watch comes back: a test that takes the API server down waits
// for it.
func retry() *wait.Backoff {
	return &wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Steps: 6, Cap: time.Second, Jitter: 0.1}
}

// follow watches a kind until it is told to stop. It is called under the lock;
// what is watched already stays as it is.
func (o *Observer) follow(gvr schema.GroupVersionResource) {
	gr := gvr.GroupResource()
	if _, on := o.watches[gr]; on || o.ctx.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(o.ctx)
	o.watches[gr] = &following{gvr: gvr, stop: stop}
	o.history.coverage(gr).version = gvr.Version
	quiet := klog.Logger{}
	r := cache.NewReflectorWithOptions(o.source(gvr), nil, &feed{o, gvr}, cache.ReflectorOptions{
		Name: "observer of " + gvr.String(), TypeDescription: gvr.String(), Logger: &quiet, Backoff: retry(),
	})
	o.running.Go(func() { r.RunWithContext(klog.NewContext(ctx, quiet)) })
}

// unfollow ends the watch of a kind. It is called under the lock.
func (o *Observer) unfollow(gr schema.GroupResource) {
	if w, on := o.watches[gr]; on {
		w.stop()
		delete(o.watches, gr)
	}
}

// following is one watch.
type following struct {
	gvr    schema.GroupVersionResource
	synced bool
	stop   context.CancelFunc
}

func (o *Observer) source(gvr schema.GroupVersionResource) cache.ListerWatcher {
	r := o.dynamic.Resource(gvr)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, lo metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, lo) },
		WatchFuncWithContext: func(ctx context.Context, lo metav1.ListOptions) (watch.Interface, error) {
			return r.Watch(ctx, lo)
		},
	}, o.dynamic)
}

// feed hands what a reflector sees to the history. It implements
// cache.ReflectorStore.
type feed struct {
	o   *Observer
	gvr schema.GroupVersionResource
}

// Add implements cache.ReflectorStore.
func (f *feed) Add(obj any) error { return f.Update(obj) }

// Update implements cache.ReflectorStore.
func (f *feed) Update(obj any) error {
	return f.with(obj, func(u *unstructured.Unstructured) {
		f.o.history.see(f.gvr, u, false)
		f.learn(u)
	})
}

// Delete implements cache.ReflectorStore. A deleted object comes with the
// version of its removal.
func (f *feed) Delete(obj any) error {
	return f.with(obj, func(u *unstructured.Unstructured) {
		f.o.history.lose(f.gvr.GroupResource(), u.GetUID(), version64(u.GetResourceVersion()))
		if f.gvr.GroupResource() == definitions.GroupResource() {
			f.o.undefine(u)
		}
	})
}

// Replace implements cache.ReflectorStore.
func (f *feed) Replace(list []any, version string) error {
	items := make([]*unstructured.Unstructured, 0, len(list))
	for _, obj := range list {
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("cannot observe a %T", obj)
		}
		items = append(items, u)
	}
	f.o.history.mu.Lock()
	defer f.o.history.mu.Unlock()
	f.o.history.replace(f.gvr, items, version64(version))
	for _, u := range items {
		f.learn(u)
	}
	if w := f.o.watches[f.gvr.GroupResource()]; w != nil {
		w.synced = true
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (f *feed) Resync() error { return nil }

func (f *feed) with(obj any, do func(*unstructured.Unstructured)) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("cannot observe a %T", obj)
	}
	f.o.history.mu.Lock()
	defer f.o.history.mu.Unlock()
	do(u)
	return nil
}

// learn follows the kinds that CRDs bring.
func (f *feed) learn(u *unstructured.Unstructured) {
	if f.gvr.GroupResource() == definitions.GroupResource() {
		f.o.define(u)
	}
}
