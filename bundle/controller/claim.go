package controller

import (
	"context"
	"slices"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/reconciler"
)

// claimer labels Bundles that have no slot label yet with their slot, if that
// is one of ours. A manager of some slots caches only labelled Bundles, so a
// new one reaches it this way. Two managers that claim the same Bundle write
// the same label.
type claimer struct {
	slots    []int
	writer   *reconciler.OwnerWriter
	observer *observer.Observer
	found    workqueue.TypedRateLimitingInterface[claim]
	log      logr.Logger
}

// claim is a Bundle without a slot label.
type claim struct {
	types.NamespacedName
	uid types.UID
}

func newClaimer(c *cluster.Cluster, slots []int, w *reconciler.OwnerWriter, log logr.Logger) *claimer {
	l := &claimer{
		slots: slots, writer: w, log: log,
		found: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[claim]()),
	}
	l.observer = observer.New(c, observer.Options{Handler: l.see, Log: log})
	l.observer.Acquire(observer.Key{Resource: v1.BundleGVR, Selector: "!" + resource.SlotLabel, MetadataOnly: true, Slim: true})
	return l
}

func (l *claimer) see(e observer.Event) {
	if e.Object == nil || e.Deleted || e.Object.GetDeletionTimestamp() != nil || !slices.Contains(l.slots, resource.SlotOf(e.Object.GetUID())) {
		return
	}
	l.found.Add(claim{types.NamespacedName{Namespace: e.Namespace, Name: e.Name}, e.Object.GetUID()})
}

// run labels until the context ends.
func (l *claimer) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, l.found.ShutDown)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- l.observer.Run(ctx) }()
	for {
		c, shutdown := l.found.Get()
		if shutdown {
			return <-ended
		}
		l.label(ctx, c)
	}
}

func (l *claimer) label(ctx context.Context, c claim) {
	defer l.found.Done(c)
	k := &kind{}
	b := k.New()
	b.UID, b.Namespace, b.Name = c.uid, c.Namespace, c.Name
	err := l.writer.Guard(ctx, k.Owner(b))
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		l.found.Forget(c)
		return
	}
	l.log.Error(err, "cannot claim a Bundle", "bundle", c.NamespacedName)
	l.found.AddRateLimited(c)
}
