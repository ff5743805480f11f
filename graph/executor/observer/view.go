package observer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// lagLimit is how long the watch may be behind a response before the store
// asks for a live read.
const lagLimit = 30 * time.Second

// view is what a store knows of one object: the newer of the last event and
// the last response.
type view struct {
	*record
	// pending is when our response was recorded, zero once the watch has
	// caught up with it.
	pending time.Time
	// unsure says that an event and a response could not be compared.
	unsure bool
}

// order compares two versions of one object.
type order int8

const (
	older order = iota
	same
	newer
	unordered
)

// compare says how version a stands to version b. Equal strings are the same
// version even where the server's versions are not numbers.
func compare(a, b string) order {
	if a == b {
		return same
	}
	c, err := resourceversion.CompareResourceVersion(a, b)
	switch {
	case err != nil:
		return unordered
	case c < 0:
		return older
	case c > 0:
		return newer
	}
	return same
}

// atMost says whether version a is certainly not newer than b.
func atMost(a, b string) bool {
	o := compare(a, b)
	return o == same || o == older
}

// fromEvent joins an event with the view. It reports whether the state that is
// seen changed, which is what handlers are told. The echo of our own write
// changes nothing.
func (v *view) fromEvent(r *record) (next *view, changed bool) {
	if v == nil {
		return &view{record: r}, true
	}
	switch compare(r.GetResourceVersion(), v.GetResourceVersion()) {
	case same:
		v.pending, v.unsure = time.Time{}, false
		return v, false
	case older:
		return v, false
	case unordered:
		if !v.pending.IsZero() {
			v.unsure = true
			return v, true
		}
	case newer:
	}
	return &view{record: r}, true // events are in order by themselves
}

// fromResponse joins a response with the view.
func (v *view) fromResponse(r *record, now time.Time) *view {
	fresh := &view{record: r, pending: now}
	if v == nil {
		return fresh
	}
	switch compare(r.GetResourceVersion(), v.GetResourceVersion()) {
	case same:
		v.unsure = false
		if !v.pending.IsZero() {
			v.pending = now
		}
		return v
	case older:
		return v
	case unordered:
		fresh.unsure = true
	case newer:
	}
	return fresh
}

// gone says whether a deletion or an absence at version d ends the view.
func (v *view) gone(uid types.UID, d string) bool {
	o := compare(v.GetResourceVersion(), d)
	if o == unordered {
		return uid != "" && uid == v.GetUID()
	}
	return o == same || o == older
}

// presence judges the view. What came from events counts only as long as the
// store is synced; our own response needs no synced store.
func (v *view) presence(synced bool, now time.Time) Presence {
	if v.unsure || (v.pending.IsZero() && !synced) || (!v.pending.IsZero() && now.Sub(v.pending) > lagLimit) {
		return Unknown
	}
	return Present
}
