package executor

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/writer"
)

// Pauses between attempts, by class of failure.
const (
	retryMin = 50 * time.Millisecond
	retryMax = 30 * time.Second

	// kindRetryMax and kindRetryFor pace questions after an unknown kind:
	// events of CRDs and API services wake it anyway, but an API service can
	// become available without one.
	kindRetryMax = 5 * time.Second
	kindRetryFor = 30 * time.Second

	slowRetryMin = 10 * time.Second
	slowRetryMax = 5 * time.Minute
)

// pause returns how long to wait after the n-th failure in a row (n >= 1).
// Zero means that only an event helps.
func pause(class writer.Class, reason string, n int) time.Duration {
	switch {
	case class == writer.Terminal:
		return 0
	case class == writer.Denied:
		return jitter(backoff(slowRetryMin, slowRetryMax, n))
	case reason == writer.ReasonKindUnknown:
		if d := backoff(retryMin, kindRetryMax, n); elapsed(n) < kindRetryFor {
			return d
		}
		return 0
	case reason == writer.ReasonTerminating:
		return 0
	}
	return jitter(backoff(retryMin, retryMax, n))
}

// elapsed is about how long n attempts for an unknown kind took together.
func elapsed(n int) time.Duration {
	var sum time.Duration
	for i := 1; i < n && sum < kindRetryFor; i++ {
		sum += backoff(retryMin, kindRetryMax, i)
	}
	return sum
}

func backoff(shortest, longest time.Duration, n int) time.Duration {
	d := shortest
	for i := 1; i < n && d < longest; i++ {
		d *= 2
	}
	return min(d, longest)
}

// jitter spreads retries of many nodes by up to a fifth.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Int64N(int64(d/5)+1)) //nolint:gosec // no secret
}

// timers holds at most one pending wake-up per node, earliest first. O(log n)
// per change.
type timers struct {
	items []timer
	place map[int]int
}

type timer struct {
	at   time.Time
	node int
}

func newTimers() *timers { return &timers{place: map[int]int{}} }

// Len, Less, Swap, Push and Pop make timers a heap.Interface.
func (t *timers) Len() int           { return len(t.items) }
func (t *timers) Less(i, j int) bool { return t.items[i].at.Before(t.items[j].at) }
func (t *timers) Swap(i, j int) {
	t.items[i], t.items[j] = t.items[j], t.items[i]
	t.place[t.items[i].node], t.place[t.items[j].node] = i, j
}
func (t *timers) Push(x any) {
	item, _ := x.(timer)
	t.place[item.node] = len(t.items)
	t.items = append(t.items, item)
}
func (t *timers) Pop() any {
	last := t.items[len(t.items)-1]
	t.items = t.items[:len(t.items)-1]
	delete(t.place, last.node)
	return last
}

// set arms, or with a zero time disarms, a node's timer.
func (t *timers) set(node int, at time.Time) {
	i, armed := t.place[node]
	switch {
	case armed && at.IsZero():
		heap.Remove(t, i)
	case armed:
		t.items[i].at = at
		heap.Fix(t, i)
	case !at.IsZero():
		heap.Push(t, timer{at: at, node: node})
	}
}

// at returns when a node's timer is due; false when none is armed.
func (t *timers) at(node int) (time.Time, bool) {
	i, armed := t.place[node]
	if !armed {
		return noTime, false
	}
	return t.items[i].at, true
}

// due removes and returns a node whose time has come.
func (t *timers) due(now time.Time) (int, bool) {
	if len(t.items) == 0 || t.items[0].at.After(now) {
		return 0, false
	}
	next, _ := heap.Pop(t).(timer)
	return next.node, true
}

// wake touches the nodes whose time has come.
func (t *timers) wake(run *graph.Run, now time.Time) {
	for {
		i, ok := t.due(now)
		if !ok {
			return
		}
		run.Touch(i)
	}
}

// next returns how long until the earliest timer, zero when none is armed.
func (t *timers) next(now time.Time) time.Duration {
	if len(t.items) == 0 {
		return 0
	}
	return max(t.items[0].at.Sub(now), time.Millisecond)
}
