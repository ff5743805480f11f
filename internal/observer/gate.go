package observer

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// creation judges S15, S1 and S16 of an object that Truss made.
func (j *judge) creation(r *Request, l *life) {
	j.twice(r)
	if l == nil {
		return // it came and went unseen
	}
	of := owner(l)
	if of == "" {
		j.violated(Inventory, r, "%s was created without the label of an owner", l.key)
		return
	}
	at := effect(r, l)
	plans := having(j.current(of, at, time.Time{}), l.key)
	if len(plans) == 0 {
		j.violated(Inventory, r, "%s was created before any inventory record of its owner %s listed it", l.key, of)
		return
	}
	missing := j.unready(plans[0], l, at)
	if missing == "" {
		return
	}
	// The newest plan may have been written while the request was under way.
	if older := having(j.current(of, at, r.Received), l.key); len(older) > 0 && older[0] != plans[0] && j.unready(older[0], l, at) == "" {
		return
	}
	j.violated(Gate, r, "%s was created before %s was Ready", l.key, missing)
}

// having keeps the plans that list an object.
func having(plans []*plan, k key) []*plan {
	var out []*plan
	for _, p := range plans {
		if p.has(k) {
			out = append(out, p)
		}
	}
	return out
}

// unready names the needs of an object, as planned, that were not seen Ready
// before rv.
func (j *judge) unready(p *plan, l *life, rv uint64) string {
	var missing []string
	for _, n := range p.needs[p.index[l.key]] {
		if !j.wasReady(p.keys[n], owner(l), rv) {
			missing = append(missing, p.keys[n].String())
		}
	}
	return strings.Join(missing, " and ")
}

// wasReady says whether an object may have been Ready before rv: only what
// certainly was not counts as not Ready.
func (j *judge) wasReady(k key, owner types.UID, rv uint64) bool {
	if j.blind(k.groupResource(), rv) {
		return true
	}
	existed := false
	for _, l := range j.lives[k] {
		existed = existed || l.born() < rv
		if l.listed || j.readyBefore(l, owner, rv) {
			return true
		}
	}
	return !existed && j.options.Exclusions
}

func (j *judge) readyBefore(l *life, owner types.UID, rv uint64) bool {
	for i := range l.versions {
		v := &l.versions[i]
		if v.rv >= rv {
			return false
		}
		if v.terminating || !v.ready && !(v.unruled && j.readsSiblings(owner)) {
			continue
		}
		if j.ownsBefore(l, rv) {
			return true
		}
	}
	return false
}

// readsSiblings says that an owner may count an object as Ready because its
// templates found what they read there, which only its compiler knows. Bundles
// do not.
func (j *judge) readsSiblings(owner types.UID) bool {
	for _, l := range j.records[owner] {
		return !strings.HasPrefix(l.key.name, "bundle-")
	}
	return true
}

// ownsBefore says whether the object that the kind's rules ask for, if any,
// was there before rv.
func (j *judge) ownsBefore(l *life, rv uint64) bool {
	c := j.kinds[l.key.groupResource()]
	wanted, _, asks := c.rules[c.version].NeedsOwned()
	if !asks {
		return true
	}
	for _, k := range j.owned[l.uid] {
		if k.refs[l.uid] < rv && k.kind == wanted {
			return true
		}
	}
	return !j.watchesKind(wanted.Group, rv)
}

// watchesKind says whether any kind of a group was fully watched before rv.
func (j *judge) watchesKind(group string, rv uint64) bool {
	for gr := range j.kinds {
		if gr.Group == group && !j.blind(gr, rv) {
			return true
		}
	}
	return false
}
