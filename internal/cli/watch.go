package cli

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/internal/cli/reader"
	"github.com/truss-dev/truss/internal/cli/trace"
)

const (
	// gather is how long changes are gathered before they are shown together.
	gather = 100 * time.Millisecond
	// tick is how often a terminal is drawn again for the ages to move on;
	// nothing is requested for that.
	tick = time.Second
	// rediscover is how long kinds that the server does not know are not asked
	// for again.
	rediscover = 2 * time.Second
	// patience is how long the first drawing waits for the ages of objects.
	patience = 2 * time.Second
)

// watcher follows one Bundle until it is Ready, failed or gone.
type watcher struct {
	follower *reader.Follower
	view     view
	ticks    <-chan time.Time
	// impatient receives when the first drawing has waited long enough.
	impatient <-chan time.Time

	plan       *trace.Plan
	uid        types.UID
	generation int64
	asked      time.Time
	unknown    int
	// patient waits with the first drawing.
	patient bool
	// deleting says that the Bundle was being deleted from the beginning.
	deleting bool
	last     *trace.Trace
}

func (t *tracer) follow(ctx context.Context, cluster *reader.Cluster, name string) (trace.Verdict, error) {
	// A Bundle that cannot be read is an error at once, and not something that
	// a watch could wait for.
	b, err := cluster.Bundle(ctx, name)
	if err != nil {
		return trace.Pending, err
	}
	w := &watcher{follower: cluster.Follow(ctx, name), view: t.view(), patient: true, impatient: time.After(patience), deleting: b.DeletionTimestamp != nil}
	defer w.follower.Close()
	if t.settings.Live && t.output == "" {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		w.ticks = ticker.C
	}
	return w.run(ctx, b.Name)
}

func (w *watcher) run(ctx context.Context, name string) (trace.Verdict, error) {
	for {
		done, verdict, err := w.step(ctx, name)
		if err != nil || done {
			return verdict, err
		}
		select {
		case <-ctx.Done():
			return w.interrupted()
		case <-time.After(gather):
		}
		select {
		case <-ctx.Done():
			return w.interrupted()
		case <-w.follower.Changed():
		case <-w.ticks:
		case <-w.impatient:
			w.patient = false
		}
	}
}

func (w *watcher) interrupted() (trace.Verdict, error) {
	if w.last == nil {
		return trace.Pending, nil
	}
	return w.last.Verdict(), w.view.end(w.last)
}

// step shows the Bundle as it is; done is true when there is nothing left to
// wait for.
func (w *watcher) step(ctx context.Context, name string) (done bool, verdict trace.Verdict, err error) {
	b, synced, err := w.follower.Bundle()
	if err != nil || !synced {
		return false, trace.Pending, err
	}
	if b == nil {
		return w.gone(name)
	}
	w.compile(ctx, b)
	live, complete := w.follower.Live()
	if w.patient && !complete {
		return false, trace.Pending, nil
	}
	w.patient = false
	w.last = trace.Of(b, w.plan, live)
	verdict = w.last.Verdict()
	if verdict == trace.Pending {
		return false, verdict, w.view.show(w.last)
	}
	return true, verdict, w.view.end(w.last)
}

// compile keeps the plan and the watches up to the Bundle.
func (w *watcher) compile(ctx context.Context, b *v1.Bundle) {
	same := w.plan != nil && w.uid == b.UID && w.generation == b.Generation
	if !same {
		w.plan, w.uid, w.generation = trace.NewPlan(b), b.UID, b.Generation
	}
	if same && w.unknown > 0 && now().Sub(w.asked) < rediscover {
		return
	}
	w.unknown, w.asked = w.follower.Want(ctx, b.UID, w.plan.Kinds(&b.Status)), now()
}

// gone ends the watch of a Bundle that no longer exists.
func (w *watcher) gone(name string) (bool, trace.Verdict, error) {
	if !w.deleting {
		return true, trace.Failed, fmt.Errorf("bundle %q was deleted", name)
	}
	if w.last == nil {
		return true, trace.Succeeded, nil
	}
	return true, trace.Succeeded, w.view.end(w.last.Finished())
}
