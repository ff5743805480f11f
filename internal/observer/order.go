package observer

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// reverseOrder judges S4 of a DELETE that began the end of an object.
func (j *judge) reverseOrder(r *Request, l *life) {
	at, of := l.ending(), owner(l)
	if at == 0 || of == "" || !j.began(r, l) || j.namespaceEnding(l.key.namespace, at) {
		return
	}
	present := j.dependants(l, of, at, time.Time{})
	if len(present) == 0 {
		return
	}
	// The newest plan may have been written while the request was under way.
	if len(j.dependants(l, of, at, r.Received)) == 0 {
		return
	}
	j.violated(ReverseOrder, r, "%s was deleted while %s needed it", l.key, strings.Join(present, " and "))
}

// began says whether a request is certainly the one that began the end of an
// object: no other deletion that may have done it was received before it was
// done.
func (j *judge) began(r *Request, l *life) bool {
	var since time.Time
	if maker := j.makers[l]; maker != nil {
		since = maker.Received
	}
	other := func(w *Request) bool {
		return w != r && w.removes() && !w.Received.After(r.Completed) && w.Completed.After(since)
	}
	return !slices.ContainsFunc(j.writes[l.key], other) && !slices.ContainsFunc(j.unnamed, func(w *Request) bool { return other(w) && w.sweeps(r) })
}

func (j *judge) namespaceEnding(name string, rv uint64) bool {
	for _, l := range j.lives[key{resource: namespaces.Resource, name: name}] {
		if end := l.ending(); end != 0 && end < rv {
			return true
		}
	}
	return false
}

// dependants names the objects that needed one, as recorded, and were there
// just before rv. While the owner lives only objects that left its newest plan
// go, and those that stay need them no more.
func (j *judge) dependants(l *life, of types.UID, rv uint64, since time.Time) []string {
	plans := j.current(of, rv, since)
	if len(plans) == 0 {
		return nil
	}
	o := j.byUID[of]
	if o == nil {
		return nil
	}
	ending := o.ending() != 0 && o.ending() < rv
	if !ending && plans[0].has(l.key) && (j.options.Exclusions || l.mayBeReplaced(rv)) {
		return nil
	}
	prune := !ending && !plans[0].has(l.key)
	var present []string
	for i, p := range plans {
		at, planned := p.index[l.key]
		if !planned {
			continue
		}
		for _, d := range p.dependants[at] {
			k := p.keys[d]
			if prune && plans[0].has(k) || decided(plans[:i], l.key, k) || i > 0 && needs(plans[:i], l.key, k) {
				continue
			}
			if j.present(k, of, rv) {
				present = append(present, k.String())
			}
		}
	}
	return present
}

func (l *life) mayBeReplaced(rv uint64) bool {
	v := l.before(rv)
	return v != nil && v.recreate
}

// present says whether an object that was made for an owner was there just
// before rv, and still bore its marks: what was detached does not count.
func (j *judge) present(k key, of types.UID, rv uint64) bool {
	for _, l := range j.lives[k] {
		if !l.at(rv) {
			continue
		}
		v := l.before(rv)
		return v.owner == of && v.signed && (!j.foreign(l) || adoptedAs(l) != "")
	}
	return false
}

// decided says whether a newer plan holds both ends of an edge.
func decided(newer []*plan, a, b key) bool {
	for _, p := range newer {
		if p.has(a) && p.has(b) {
			return true
		}
	}
	return false
}

// needs says whether newer plans, taken together, make a need b: an older
// plan's edge the other way does not count then.
func needs(newer []*plan, a, b key) bool {
	seen := map[key]bool{a: true}
	for open := []key{a}; len(open) > 0; {
		next := open[len(open)-1]
		open = open[:len(open)-1]
		for _, p := range newer {
			i, planned := p.index[next]
			if !planned {
				continue
			}
			for _, n := range p.needs[i] {
				k := p.keys[n]
				if k == b {
					return true
				}
				if !seen[k] {
					seen[k] = true
					open = append(open, k)
				}
			}
		}
	}
	return false
}
