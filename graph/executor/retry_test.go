package executor

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
)

func TestPausesFollowTheClassOfTheFailure(t *testing.T) {
	cases := map[string]struct {
		reason   string
		class    writer.Class
		failure  string
		n        int
		min, max time.Duration
	}{
		"FirstConflict": {"Transient failures are tried again soon", writer.Retriable, writer.ReasonConflict, 1, retryMin, retryMin * 6 / 5},
		"FifthConflict": {"And then slower", writer.Retriable, writer.ReasonConflict, 5, 16 * retryMin, 16 * retryMin * 6 / 5},
		"Longest":       {"But never slower than this", writer.Retriable, writer.ReasonServerError, 1000, retryMax, retryMax * 6 / 5},
		"Denied":        {"Rights and quota take a person: 10 s at first", writer.Denied, writer.ReasonForbidden, 1, slowRetryMin, slowRetryMin * 6 / 5},
		"DeniedLong":    {"And 5 min in the end", writer.Denied, writer.ReasonQuotaExceeded, 20, slowRetryMax, slowRetryMax * 6 / 5},
		"Terminal":      {"Nothing but a change helps", writer.Terminal, writer.ReasonInvalid, 1, 0, 0},
		"KindAtOnce":    {"A kind may be served moments after it is announced", writer.Waiting, writer.ReasonKindUnknown, 1, retryMin, retryMin},
		"KindLater":     {"Asked at most every 5 s", writer.Waiting, writer.ReasonKindUnknown, 8, kindRetryMax, kindRetryMax},
		"KindNoMore":    {"After 30 s only an event helps", writer.Waiting, writer.ReasonKindUnknown, 14, 0, 0},
		"Terminating":   {"The watch tells when it is gone", writer.Waiting, writer.ReasonTerminating, 1, 0, 0},
		"Namespace":     {"No event tells of a namespace", writer.Waiting, writer.ReasonNamespaceMissing, 1, retryMin, retryMin * 6 / 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 50 { // jitter
				if got := pause(tc.class, tc.failure, tc.n); got < tc.min || got > tc.max {
					t.Fatalf("%s: pause() = %s, want %s to %s", tc.reason, got, tc.min, tc.max)
				}
			}
		})
	}
}

func TestTransientFailuresAreNoNewsAtFirst(t *testing.T) {
	n := &node{}
	conflict := &writer.Failure{Class: writer.Retriable, Reason: writer.ReasonConflict}
	for i, want := range []graph.State{graph.InProgress, graph.InProgress, graph.InProgress, graph.Error, graph.Error} {
		if v := n.of(conflict); v.state != want || v.terminal || v.retry == 0 {
			t.Errorf("attempt %d: %+v, want %s and another attempt", i+1, v, want)
		}
	}
	if v := n.of(&writer.Failure{Class: writer.Retriable, Reason: writer.ReasonThrottled}); v.state != graph.InProgress {
		t.Errorf("another failure: %+v, want to count anew", v)
	}
	for class, want := range map[writer.Class]graph.State{writer.Terminal: graph.Error, writer.Denied: graph.Error, writer.Waiting: graph.InProgress} {
		if v := n.of(&writer.Failure{Class: class, Reason: "X"}); v.state != want || v.terminal != (class == writer.Terminal) {
			t.Errorf("class %d: %+v, want %s", class, v, want)
		}
	}
}

func TestTimersFireInOrderAndOncePerNode(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	timers := newTimers()
	if timers.next(at(0)) != 0 {
		t.Error("no timer is armed, yet there is a next")
	}
	for node, s := range []int{5, 1, 4, 2, 3} {
		timers.set(node, at(s))
	}
	timers.set(2, at(6)) // later
	timers.set(0, at(0)) // sooner
	timers.set(3, noTime)
	timers.set(7, noTime) // was never armed
	if got := timers.next(at(-10)); got != 10*time.Second {
		t.Errorf("next() = %s, want 10s", got)
	}
	if got := timers.next(at(60)); got != time.Millisecond {
		t.Errorf("next() = %s for what is overdue, want soon: zero means never", got)
	}
	var fired []int
	for {
		node, ok := timers.due(at(3))
		if !ok {
			break
		}
		fired = append(fired, node)
	}
	if want := []int{0, 1, 4}; !slices.Equal(fired, want) {
		t.Errorf("due by 3 s: %v, want %v", fired, want)
	}
	if node, ok := timers.due(at(6)); !ok || node != 2 {
		t.Errorf("due() = %d, %t, want node 2", node, ok)
	}
	if timers.Len() != 0 || len(timers.place) != 0 {
		t.Error("timers that fired are still there")
	}
}

// bare is a generation that can be touched and nothing else.
func bare(t *testing.T, name string, nodes int) *generation {
	t.Helper()
	return &generation{run: wide(t, nodes), owner: &resource.Owner{Name: name}}
}

func settle(g *generation) {
	for i, ok := g.run.Next(); ok; i, ok = g.run.Next() {
		g.run.Set(i, graph.Outcome{State: graph.Ready})
	}
}

func TestRefsWakeThoseWhoWait(t *testing.T) {
	var woken []string
	x := &Executor{wake: func(n types.NamespacedName) { woken = append(woken, n.Name) }}
	a, b := bare(t, "a", 3), bare(t, "b", 3)
	settle(a)
	settle(b)
	var r refs[types.UID]
	r.touch(x, "nobody")
	r.add("u", nodeRef{a, 1})
	r.add("u", nodeRef{a, 1})
	r.add("u", nodeRef{b, 2})
	r.add("v", nodeRef{b, 0})
	r.touch(x, "u")
	if want := []string{"a", "b"}; !slices.Equal(woken, want) {
		t.Errorf("woken %v, want %v, each once", woken, want)
	}
	if i, ok := a.run.Next(); !ok || i != 1 {
		t.Errorf("node %d of a may act, want 1", i)
	}
	if i, ok := b.run.Next(); !ok || i != 2 {
		t.Errorf("node %d of b may act, want 2", i)
	}
	r.remove("u", a)
	woken = nil
	r.touch(x, "u")
	if want := []string{"b"}; !slices.Equal(woken, want) {
		t.Errorf("woken %v after a left, want %v", woken, want)
	}
	r.remove("u", b)
	r.remove("v", b)
	if len(r.m) != 0 {
		t.Errorf("%v is kept for nobody", r.m)
	}
}
