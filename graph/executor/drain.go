package executor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/truss-dev/truss/graph"
)

// A drain yields to other owners after this many writes or this long.
const (
	drainWrites = 256
	drainTime   = time.Second
)

// lookTime bounds one look at a node, so that a server that never answers
// holds up nobody for ever.
const lookTime = time.Minute

// limiter bounds writes in flight. The executor has one for all owners and
// each drain has its own, so that one owner cannot take every connection.
type limiter chan struct{}

func (l limiter) acquire() { l <- struct{}{} }
func (l limiter) release() { <-l }

// drain processes what can act until nothing can, the graph is superseded or
// its turn is over; it reports whether work is left for another turn.
// Requests in flight are awaited, never cancelled: a write whose answer nobody
// waits for may or may not have happened. process is called for different
// nodes at the same time.
type drain struct {
	run     *graph.Run
	limit   limiter
	process func(ctx context.Context, i int) graph.Outcome
	writes  *atomic.Int64
	now     func() time.Time
}

func (d *drain) do(ctx context.Context) (yielded bool) {
	var pool sync.WaitGroup
	defer pool.Wait()
	finished := make(chan struct{}, 1)
	end := d.now().Add(drainTime)
	for {
		if d.writes.Load() >= drainWrites || d.now().After(end) || ctx.Err() != nil {
			return d.run.Pending()
		}
		d.limit.acquire()
		i, ok := d.run.Next()
		if ok {
			pool.Go(func() {
				look, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
				defer cancel()
				d.run.Set(i, d.process(look, i))
				d.limit.release()
				select {
				case finished <- struct{}{}:
				default:
				}
			})
			continue
		}
		d.limit.release()
		if d.run.InFlight() > 0 {
			<-finished
			continue
		}
		if d.run.Superseded() || !d.run.Pending() {
			return false
		}
	}
}
