package reader

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// A Follower knows a Bundle and its objects as they are, from watches.
type Follower struct {
	cluster *Cluster
	stop    context.CancelFunc
	running sync.WaitGroup
	changed chan struct{}
	bundle  *store[v1.Bundle]

	mu     sync.Mutex
	owner  types.UID
	kinds  map[schema.GroupKind]*store[metav1.PartialObjectMetadata]
	stops  []context.CancelFunc
	failed error
	// missed says that the server did not know a kind when it was last asked.
	missed bool
}

// Follow watches a Bundle until ctx ends or Close is called.
func (c *Cluster) Follow(ctx context.Context, name string) *Follower {
	ctx, stop := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	f := &Follower{cluster: c, stop: stop, changed: make(chan struct{}, 1)}
	f.bundle = newStore[v1.Bundle](f.notify)
	f.start(ctx, f.bundle, source{
		request: c.bundles,
		options: metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()},
		object:  &v1.Bundle{}, list: func() metav1.ListInterface { return &v1.BundleList{} },
		refused: f.fail,
	})
	return f
}

// Close ends all watches and waits for them.
func (f *Follower) Close() {
	f.stop()
	f.mu.Lock()
	f.drop()
	f.mu.Unlock()
	f.running.Wait()
}

// Changed receives after something changed; several changes may be one.
func (f *Follower) Changed() <-chan struct{} { return f.changed }

// notify wakes the reader, who may be busy: one wake is enough.
func (f *Follower) notify() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func (f *Follower) fail(err error) {
	f.mu.Lock()
	f.failed = fmt.Errorf("cannot watch the Bundles of namespace %q, which takes the rights to list and watch them: %w",
		f.cluster.Namespace, f.cluster.explain(err))
	f.mu.Unlock()
	f.notify()
}

// Bundle returns the Bundle, which must not be modified; nil when there is
// none. synced is false until the first answer. The error says that the watch
// was refused.
func (f *Follower) Bundle() (b *v1.Bundle, synced bool, err error) {
	f.mu.Lock()
	err = f.failed
	f.mu.Unlock()
	items, synced := f.bundle.all()
	for _, item := range items {
		b = item
	}
	return b, synced, err
}

// Live returns the objects of the kinds that Want was asked for, as far as they
// were listed. complete is true when every kind that the server knows was
// listed, or may not be.
func (f *Follower) Live() (live trace.Live, complete bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	live, complete = trace.Live{}, true
	for kind, s := range f.kinds {
		objects, listed := s.all()
		complete = complete && s.answered()
		if !listed {
			continue
		}
		live[kind] = make(map[string]trace.Child, len(objects))
		for _, o := range objects {
			live[kind][o.Name] = trace.ChildOf(&o.ObjectMeta)
		}
	}
	return live, complete
}

// Want watches the objects of these kinds that the owner has. Those that are
// watched already go on, unless the owner is another one. It returns how many
// kinds are not known to the server yet; ask again later. Discovery takes
// requests when a kind is not known. Not for use with Close at the same time.
func (f *Follower) Want(ctx context.Context, owner types.UID, kinds []schema.GroupVersionKind) (unknown int) {
	f.mu.Lock()
	if f.owner != owner {
		f.drop()
		f.owner = owner
	}
	followed, missed := maps.Clone(f.kinds), f.missed
	f.mu.Unlock()
	if missed {
		f.cluster.forget()
	}
	for _, kind := range kinds {
		if followed[kind.GroupKind()] != nil {
			continue
		}
		if err := f.want(ctx, owner, kind); err != nil {
			unknown++
		}
	}
	f.mu.Lock()
	f.missed = unknown > 0
	f.mu.Unlock()
	return unknown
}

// drop ends the watches of objects. The caller holds the lock.
func (f *Follower) drop() {
	for _, stop := range f.stops {
		stop()
	}
	f.owner, f.stops = "", nil
	f.kinds = map[schema.GroupKind]*store[metav1.PartialObjectMetadata]{}
}

// want starts the watch of one kind.
func (f *Follower) want(ctx context.Context, owner types.UID, kind schema.GroupVersionKind) error {
	path, err := f.cluster.path(kind)
	if err != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("cannot find kind %s: %w", kind.GroupKind(), err)
	}
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	s := newStore[metav1.PartialObjectMetadata](f.notify)
	f.mu.Lock()
	f.kinds[kind.GroupKind()] = s
	f.stops = append(f.stops, stop)
	f.mu.Unlock()
	f.start(ctx, s, source{
		request: f.cluster.at(path),
		options: metav1.ListOptions{LabelSelector: ownedBy(owner)},
		object:  &metav1.PartialObjectMetadata{}, list: func() metav1.ListInterface { return &metav1.PartialObjectMetadataList{} },
		refused: func(error) {
			stop()
			s.refuse()
		},
	})
	return nil
}
