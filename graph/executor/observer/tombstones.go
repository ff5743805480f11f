package observer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

const (
	tombstoneLimit = 4096
	tombstoneLife  = 10 * time.Minute
)

// tombstone is what is known of an object that left. It hides older news of
// it: a response that arrives after the deletion it preceded.
type tombstone struct {
	version string    // deletion or list version; "" when not known
	uid     types.UID // proven gone for ever; "" when it only left the set
	at      time.Time
}

// hides says whether news of version rv about the object uid is older than
// the deletion.
func (t *tombstone) hides(uid types.UID, rv string) bool {
	if t.uid != "" && t.uid == uid {
		return true
	}
	if t.version == "" {
		return false
	}
	c, err := resourceversion.CompareResourceVersion(rv, t.version)
	return err == nil && c <= 0
}

// graveyard holds the last tombstones, bounded in number and time.
type graveyard struct {
	byName map[types.NamespacedName]tombstone
	order  []burial
}

type burial struct {
	name types.NamespacedName
	at   time.Time
}

func newGraveyard() graveyard {
	return graveyard{byName: map[types.NamespacedName]tombstone{}}
}

func (g *graveyard) bury(n types.NamespacedName, t tombstone) {
	if old, ok := g.byName[n]; ok && t.uid == "" && old.uid != "" {
		t.uid = old.uid
	}
	g.byName[n] = t
	g.order = append(g.order, burial{name: n, at: t.at})
	g.expire(t.at)
}

// expire drops what is too old or too much. The order list holds one entry per
// burial; only the latest of a name removes it.
func (g *graveyard) expire(now time.Time) {
	drop := 0
	for ; drop < len(g.order); drop++ {
		b := g.order[drop]
		if len(g.order)-drop <= tombstoneLimit && now.Sub(b.at) < tombstoneLife {
			break
		}
		if t, ok := g.byName[b.name]; ok && t.at.Equal(b.at) {
			delete(g.byName, b.name)
		}
	}
	g.order = g.order[drop:] // append drops the head when it grows the list
}

func (g *graveyard) find(n types.NamespacedName) (tombstone, bool) {
	t, ok := g.byName[n]
	return t, ok
}

func (g *graveyard) raise(n types.NamespacedName) {
	delete(g.byName, n)
}
