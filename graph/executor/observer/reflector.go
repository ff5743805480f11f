package observer

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/truss-dev/truss/graph/executor/cluster"
)

const (
	backoffInit = 800 * time.Millisecond
	backoffMax  = 30 * time.Second
	// kickedInit is the first backoff after a kick: a resource that appears is
	// often served some moments later than it is announced.
	kickedInit = 50 * time.Millisecond
	// healthyAfter is how long a list and watch must have lasted for the next
	// one to start at once.
	healthyAfter = 10 * time.Second
)

// source lists and watches one key.
type source struct {
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func newSource(c *cluster.Client, k Key) source {
	if k.MetadataOnly {
		r := c.Metadata.Resource(k.Resource).Namespace(k.Namespace)
		return source{
			list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
			watch: r.Watch,
		}
	}
	r := c.Dynamic.Resource(k.Resource).Namespace(k.Namespace)
	return source{
		list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
		watch: r.Watch,
	}
}

// runner keeps one store fed until its context ends. It drives a client-go
// Reflector, but not by the Reflector's own loop: that one cannot be told to
// retry at once, and it waits out a refused connection after its context ended.
type runner struct {
	store   *Store
	source  source
	backoff wait.Backoff
}

func (r *runner) run(ctx context.Context) {
	logger := r.store.observer.log
	ctx = klog.NewContext(ctx, logger)
	reflector := cache.NewReflectorWithOptions(
		&cache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch},
		nil,
		feed{r.store},
		cache.ReflectorOptions{
			Name:            r.store.key.String(),
			TypeDescription: r.store.key.Resource.String(),
			Logger:          &logger,
			Clock:           r.store.observer.clock,
		})
	r.reset(backoffInit)
	for ctx.Err() == nil {
		started := r.store.clock.Now()
		if err := reflector.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil {
			r.store.fail(unwrapRefusal(err))
		}
		if r.store.clock.Since(started) >= healthyAfter {
			r.reset(backoffInit)
			continue
		}
		if !r.pause(ctx) {
			return
		}
	}
}

func (r *runner) reset(first time.Duration) {
	r.backoff = wait.Backoff{Duration: first, Factor: 2, Jitter: 0.5, Steps: 20, Cap: backoffMax}
}

// pause waits for the backoff or a kick, which also resets it. It returns false
// when the context ended.
func (r *runner) pause(ctx context.Context) bool {
	t := r.store.observer.clock.NewTimer(r.backoff.Step())
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-r.store.kick:
		r.reset(kickedInit)
	case <-t.C():
	}
	return true
}

func (r *runner) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	r.store.scope.apply(r.store.key, &o)
	list, err := r.source.list(ctx, o)
	return list, refusal(err)
}

// watch opens a watch. A watch that goes on from a known version is retried
// here while the API server is away, which saves a list on its return.
func (r *runner) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	r.store.scope.apply(r.store.key, &o)
	resumes := o.SendInitialEvents == nil
	for {
		w, err := r.source.watch(ctx, o)
		if err == nil {
			r.store.recovered()
			return w, nil
		}
		if !resumes || !away(err) {
			return nil, refusal(err)
		}
		r.store.fail(err)
		if !r.pause(ctx) {
			return nil, ctx.Err()
		}
	}
}

// apply restricts a request to the key.
func (*scope) apply(k Key, o *metav1.ListOptions) {
	o.LabelSelector, o.FieldSelector = k.Selector, k.Field
}

// away says that the API server could not be reached or asked to come back
// later.
func away(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}

// refused hides from the Reflector that an error is one of those which it
// would wait out by itself.
type refused struct{ err error }

func (r *refused) Error() string { return r.err.Error() }

func refusal(err error) error {
	if err != nil && away(err) {
		return &refused{err}
	}
	return err
}

func unwrapRefusal(err error) error {
	if r, ok := errors.AsType[*refused](err); ok {
		return r.err
	}
	return err
}
