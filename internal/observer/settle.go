package observer

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// lists bounds how many kinds Settle lists at once.
const lists = 4

// Settle waits until the observer knows all that happened up to this call: every
// request that was answered before is read from the log, and every change of
// every object has come through the watches. It sends a request of its own and
// waits for its line, then lists each kind's metadata and waits until the
// watches have shown as much: O(objects).
func (o *Observer) Settle(ctx context.Context) error {
	o.settling.Lock()
	defer o.settling.Unlock()
	line, err := o.mark(ctx)
	if err != nil {
		return err
	}
	// Definitions come first: they bring more kinds.
	if err := o.caughtUp(ctx, definitions); err != nil {
		return err
	}
	if err := o.synced(ctx); err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(lists)
	for _, gvr := range o.followed() {
		all.Go(func() error { return o.caughtUp(ctx, gvr) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	o.history.mu.Lock()
	defer o.history.mu.Unlock()
	o.settled = line
	return nil
}

// mark sends a request that nobody else sends and waits for its line.
func (o *Observer) mark(ctx context.Context) (line int, err error) {
	marker := "truss-observer=" + rand.Text()
	o.history.mu.Lock()
	o.log.marker, o.log.passed = marker, 0
	o.history.mu.Unlock()
	if err := o.discovery.RESTClient().Get().RequestURI("/version?" + marker).Do(ctx).Error(); err != nil {
		return 0, fmt.Errorf("cannot mark the audit log: %w", err)
	}
	err = o.until(ctx, func() (bool, error) {
		err := o.drain()
		line = o.log.passed
		return line > 0, err
	})
	if err != nil {
		return 0, fmt.Errorf("cannot find the observer's own mark in the audit log: %w", err)
	}
	return line, nil
}

// drain reads what is new in the log. It is called under the lock.
func (o *Observer) drain() error {
	return o.log.read(func(r *Request) { o.history.requests = append(o.history.requests, r) })
}

func (o *Observer) followed() []schema.GroupVersionResource {
	o.history.mu.Lock()
	defer o.history.mu.Unlock()
	out := make([]schema.GroupVersionResource, 0, len(o.watches))
	for _, w := range o.watches {
		out = append(out, w.gvr)
	}
	slices.SortFunc(out, compareKinds)
	return out
}

// caughtUp lists a kind and waits until its watch has shown all of that. A kind
// that is gone, or goes meanwhile, has nothing more to show.
func (o *Observer) caughtUp(ctx context.Context, gvr schema.GroupVersionResource) error {
	list, err := o.metadata.Resource(gvr).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot list %s: %w", gvr.GroupResource(), err)
	}
	at := version64(list.ResourceVersion)
	there := make(map[types.UID]uint64, len(list.Items))
	for i := range list.Items {
		there[list.Items[i].UID] = version64(list.Items[i].ResourceVersion)
	}
	err = o.until(ctx, func() (bool, error) {
		return o.watches[gvr.GroupResource()] == nil || o.history.shows(gvr.GroupResource(), there, at), nil
	})
	if err != nil {
		return fmt.Errorf("cannot see all of %s: %w", gvr.GroupResource(), err)
	}
	return nil
}

// shows says whether a kind's watch has shown at least what a list at a
// version holds. Events of one object come in order, so its state at that
// version proves that all before it was shown.
func (h *history) shows(gr schema.GroupResource, there map[types.UID]uint64, at uint64) bool {
	c := h.coverage(gr)
	if c.last >= at {
		return true // events of one kind come in order
	}
	for uid, rv := range there {
		l := h.byUID[uid]
		if l == nil || l.gone == 0 && l.seen < rv {
			return false
		}
	}
	for _, l := range c.alive {
		if _, is := there[l.uid]; !is && l.born() <= at {
			return false
		}
	}
	return true
}

// pause waits, at most until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
