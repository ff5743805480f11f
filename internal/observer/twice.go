package observer

import "slices"

// twice judges S16: between two creations by Truss somebody must have deleted
// the first object, else one of the two is lost.
func (j *judge) twice(r *Request) {
	var previous *Request
	for _, w := range j.writes[r.key()] {
		switch {
		case w == r:
			if previous != nil && !j.deleted(previous, r) && !j.swept(previous, r) {
				j.violated(DoubleCreate, r, "%s had been created by request #%d and nobody deleted it since", r.key(), previous.Seq)
			}
			return
		case w.own && w.creates() && w.succeeded():
			previous = w
		}
	}
}

// deleted says whether a deletion of the object was under way between two
// creations; its line may stand after that of the second, which began as soon
// as a watch told of it.
func (j *judge) deleted(from, to *Request) bool {
	return slices.ContainsFunc(j.writes[to.key()], func(w *Request) bool {
		return w.removes() && w.Completed.After(from.Received) && w.Received.Before(to.Completed)
	})
}

// swept says whether a deletion of many objects took the object of a request
// away between that and a later one.
func (j *judge) swept(from, to *Request) bool {
	return slices.ContainsFunc(j.unnamed, func(w *Request) bool {
		return !w.Completed.Before(from.Received) && !w.Received.After(to.Completed) && w.sweeps(to)
	})
}

// sweeps says whether a deletion of a collection, a namespace or a CRD may
// have deleted the object that another request is about.
func (r *Request) sweeps(about *Request) bool {
	switch r.key().groupResource() {
	case namespaces.GroupResource():
		return r.Name == "" || r.Name == about.Namespace
	case definitions.GroupResource():
		return r.Name == "" || r.Name == about.key().groupResource().String()
	case about.key().groupResource():
		return r.Namespace == "" || r.Namespace == about.Namespace
	}
	return false
}
