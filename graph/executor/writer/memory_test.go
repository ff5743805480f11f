package writer

import (
	"testing"
	"time"

	"github.com/truss-dev/truss/graph/executor/observer"
)

func TestAWriteFromOneStateIsRepeatedSlowerAndSlower(t *testing.T) {
	var m Memory
	state := pair{hash: "h", fields: observer.Digest{1}}
	now := time.Unix(1000, 0)
	for _, seconds := range []int{2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		m.wroteFrom(state, now)
		pause := time.Duration(seconds) * time.Second
		if !m.fruitless(state, now.Add(pause-time.Millisecond)) {
			t.Fatalf("after a write that was undone the next may come only after %s", pause)
		}
		if m.fruitless(state, now.Add(pause)) {
			t.Fatalf("after %s another attempt is due", pause)
		}
		now = now.Add(pause)
	}
}

func TestOnlyTheSameStateCountsAsARepetition(t *testing.T) {
	now := time.Unix(1000, 0)
	cases := map[string]struct {
		reason string
		next   pair
		at     time.Duration
		want   bool
	}{
		"Same":     {"The state that was written from is back: somebody undid it", pair{hash: "h"}, time.Second, true},
		"Desired":  {"Another desired state is another write", pair{hash: "i"}, time.Second, false},
		"Fields":   {"Another field set is other drift", pair{hash: "h", fields: observer.Digest{1}}, time.Second, false},
		"MuchLate": {"The same edit by a person a while later is set back at once", pair{hash: "h"}, time.Minute, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var m Memory
			m.wroteFrom(pair{hash: "h"}, now)
			if got := m.fruitless(tc.next, now.Add(tc.at)); got != tc.want {
				t.Errorf("%s: fruitless() = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestRepetitionsAreForgottenAfterALongCalm(t *testing.T) {
	var m Memory
	now := time.Unix(1000, 0)
	for range 5 {
		m.wroteFrom(pair{hash: "h"}, now)
	}
	later := now.Add(2 * repeatMax)
	m.wroteFrom(pair{hash: "h"}, later)
	if m.fruitless(pair{hash: "h"}, later.Add(repeatMin)) {
		t.Error("a fight of hours ago still slows down the answer to one edit")
	}
}
