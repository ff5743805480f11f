package observer

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// current gives the plans of an owner that counted just before rv, newest
// first. A record that a stranger made does not count. Records that were
// written or renewed after since are left out, unless since is zero.
func (j *judge) current(owner types.UID, rv uint64, since time.Time) []*plan {
	type counted struct {
		plan *plan
		v    *version
	}
	var all []counted
	for _, l := range j.records[owner] {
		v := l.before(rv)
		if v == nil || !l.at(rv) || !v.active || j.foreign(l) || j.promoted(l, since) {
			continue
		}
		all = append(all, counted{l.plan, v})
	}
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.v.planned, a.v.planned), cmp.Compare(b.v.rv, a.v.rv))
	})
	plans := make([]*plan, len(all))
	for i := range all {
		plans[i] = all[i].plan
	}
	return plans
}

// foreign says that somebody else is known to have made an object.
func (j *judge) foreign(l *life) bool {
	maker := j.makers[l]
	return maker != nil && !maker.own
}

// promoted says whether Truss wrote a record while a request that it received
// at a time may have been under way.
func (j *judge) promoted(l *life, since time.Time) bool {
	if since.IsZero() {
		return false
	}
	return slices.ContainsFunc(j.renewals[l.key], func(r *Request) bool { return r.Completed.After(since) })
}

// namespaceOf is the namespace of an owner; known is false where nothing tells.
func (j *judge) namespaceOf(owner types.UID) (namespace string, known bool) {
	if l := j.byUID[owner]; l != nil {
		return l.key.namespace, true
	}
	for _, l := range j.records[owner] {
		if j.foreign(l) {
			continue
		}
		if l.plan.namespaced {
			return l.key.namespace, true
		}
		return "", true
	}
	return "", false
}
