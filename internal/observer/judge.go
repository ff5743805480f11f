package observer

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Field managers of what Truss writes on owners.
const (
	guardManager  = "truss-owner"
	statusManager = "truss-status"
)

// macSecret signs what Truss writes; it is Truss's own.
const macSecret = "truss-mac-key"

// judge looks at one history. It is pure: same history, same verdicts.
type judge struct {
	*history
	options *Options
	// writes are successful creations and removals by anybody, by key, in the
	// order of the log; unnamed are removals of many objects at once.
	writes  map[key][]*Request
	unnamed []*Request
	// renewals are Truss's writes of inventory records.
	renewals map[key][]*Request
	makers   map[*life]*Request
	made     map[*Request]*life
	found    []Violation
}

func newJudge(h *history, o *Options, settled int) *judge {
	j := &judge{history: h, options: o, writes: map[key][]*Request{}, renewals: map[key][]*Request{}, makers: map[*life]*Request{}, made: map[*Request]*life{}}
	for _, r := range h.requests {
		if r.own && r.succeeded() && r.writes() && isRecord(r.key()) {
			j.renewals[r.key()] = append(j.renewals[r.key()], r)
		}
		switch {
		case r.Seq > settled, !r.succeeded() && !r.unclear():
		case r.removes() && (r.Name == "" || r.key().groupResource() == namespaces.GroupResource() || r.key().groupResource() == definitions.GroupResource()):
			j.unnamed = append(j.unnamed, r)
		case r.creates(), r.removes():
			j.writes[r.key()] = append(j.writes[r.key()], r)
		}
	}
	j.match()
	return j
}

func (j *judge) violated(i Invariant, r *Request, format string, args ...any) {
	v := Violation{Invariant: i, Message: fmt.Sprintf(format, args...), Namespace: r.Namespace, Event: *r}
	if namespace, known := j.namespaceOf(j.ownerOf(r, j.target(r))); known {
		v.Namespace = namespace
	}
	j.found = append(j.found, v)
}

// match finds out who made which object: by UID where the log has it, else in
// order among the objects of one name, whose creation times must fit. Answers
// that leave it open come last.
func (j *judge) match() {
	for _, writes := range j.writes {
		for _, r := range writes {
			if l := j.byUID[r.body.uid]; l != nil && r.creates() && r.succeeded() && l.key == r.key() {
				j.makers[l], j.made[r] = r, l
			}
		}
	}
	for k, writes := range j.writes {
		j.pair(k, writes, (*Request).succeeded)
		j.pair(k, writes, func(r *Request) bool { return r.own && r.unclear() })
	}
}

func (j *judge) pair(k key, writes []*Request, may func(*Request) bool) {
	for _, r := range writes {
		if !r.creates() || !may(r) || j.made[r] != nil {
			continue
		}
		for _, l := range j.lives[k] {
			if j.makers[l] == nil && during(l.created, r) {
				j.makers[l], j.made[r] = r, l
				break
			}
		}
	}
}

// during says whether a creation time, in seconds, fits a request.
func during(created time.Time, r *Request) bool {
	return !created.Before(r.Received.Truncate(time.Second)) && !created.After(r.Completed)
}

// request judges one request of Truss.
func (j *judge) request(r *Request) {
	if !r.writes() || r.DryRun || j.housekeeping(r) {
		return
	}
	j.preconditions(r)
	if !r.succeeded() {
		return
	}
	l := j.target(r)
	switch {
	case j.ownerWrite(r):
		j.writesOwner(r, l)
		return
	case isRecord(r.key()):
		return
	case r.creates():
		j.creation(r, l)
	default:
		j.touch(r, l)
	}
	j.confinement(r, l)
}

// housekeeping says that a request is about nothing that a graph holds.
func (j *judge) housekeeping(r *Request) bool {
	switch r.Group {
	case "authentication.k8s.io", "authorization.k8s.io", "coordination.k8s.io", "events.k8s.io":
		return true
	case "":
		return r.Resource == "" || r.Resource == "events" || r.Subresource == "token" ||
			r.Resource == "secrets" && r.Namespace == j.options.Namespace && r.Name == macSecret
	}
	return false
}

// ownerWrite says that a request writes what Truss has on an owner.
func (j *judge) ownerWrite(r *Request) bool {
	return r.Verb == verbPatch && (r.Manager == guardManager || r.Manager == statusManager)
}

func (j *judge) writesOwner(r *Request, l *life) {
	if slices.Contains(j.options.OwnerGroups, r.Group) {
		return
	}
	if l != nil && len(j.records[l.uid]) == 0 {
		j.violated(ForeignTouch, r, "%s is no owner", l.key)
	}
}

// target is the object that a successful request was about; nil when that is
// not certain.
func (j *judge) target(r *Request) *life {
	if l := j.made[r]; l != nil {
		return l
	}
	if r.body.uid != "" {
		return j.byUID[r.body.uid]
	}
	if lives := j.lives[r.key()]; len(lives) == 1 {
		return lives[0]
	}
	return nil
}

// owner is the UID of the owner that an object was made for; empty when it is
// not known.
func owner(l *life) types.UID {
	if l == nil {
		return ""
	}
	for i := range l.versions {
		if l.versions[i].owner != "" {
			return l.versions[i].owner
		}
	}
	return ""
}

// ownerOf is the UID of the owner that a request was sent for; empty when it
// is not known.
func (j *judge) ownerOf(r *Request, l *life) types.UID {
	if r.body.owner != "" {
		return r.body.owner
	}
	return owner(l)
}

// effect is the version that a creation made.
func effect(r *Request, l *life) uint64 {
	if r.body.rv != 0 {
		return r.body.rv
	}
	return l.born()
}
