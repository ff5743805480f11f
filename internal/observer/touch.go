package observer

// preconditions judges S3: what Truss sends must not be able to hit another
// object than the one it means, whatever the answer was.
func (j *judge) preconditions(r *Request) {
	switch r.Verb {
	case verbUpdate:
		j.violated(Precondition, r, "%s was replaced: a PUT takes fields away from others", r.key())
	case verbDeleteCollection:
		j.violated(Precondition, r, "a collection of %s was deleted", r.key().groupResource())
	case verbDelete:
		if r.body.known && !r.body.guarded {
			j.violated(Precondition, r, "%s was deleted without a UID as precondition", r.key())
		}
		if !r.body.known {
			j.violated(Precondition, r, "%s was deleted without options, or the audit policy hides them", r.key())
		}
	case verbPatch:
		if r.Code == 201 {
			j.violated(Precondition, r, "%s was created by a patch: the first write is a POST", r.key())
			return
		}
		if r.body.known && !r.body.guarded {
			j.violated(Precondition, r, "%s was patched without a UID or resourceVersion", r.key())
		}
	}
}

// touch judges S2 and S4 of a change to an object that was there.
func (j *judge) touch(r *Request, l *life) {
	if l == nil {
		j.touchUnseen(r)
		return
	}
	adopts := r.body.adopts || adoptedAs(l) != ""
	switch {
	case j.foreign(l) && !adopts:
		j.violated(ForeignTouch, r, "%s was made by %s", l.key, j.makers[l].User)
		return
	case j.foreign(l) && r.Verb == verbDelete && adoptedAs(l) == "true":
		j.violated(ForeignTouch, r, "%s was adopted and is to be detached, not deleted", l.key)
		return
	case r.body.owner != "" && owner(l) != "" && owner(l) != r.body.owner && !j.foreign(l):
		j.violated(ForeignTouch, r, "%s was made for owner %s and not for %s", l.key, owner(l), r.body.owner)
		return
	}
	if r.Verb == verbDelete {
		j.reverseOrder(r, l)
	}
}

// touchUnseen judges a request whose object is not certain: where all objects
// of that name were made by others, it was one of those.
func (j *judge) touchUnseen(r *Request) {
	lives := j.lives[r.key()]
	for _, l := range lives {
		if !j.foreign(l) || adoptedAs(l) != "" {
			return
		}
	}
	if len(lives) > 0 && !r.body.adopts {
		j.violated(ForeignTouch, r, "%s was made by %s", r.key(), j.makers[lives[0]].User)
	}
}

// adoptedAs is how the author let an object be adopted; empty for not at all.
func adoptedAs(l *life) string {
	for i := range l.versions {
		if v := &l.versions[i]; v.owner != "" && adopting(v.adopts) {
			return v.adopts
		}
	}
	return ""
}

// confinement judges S6.
func (j *judge) confinement(r *Request, l *life) {
	namespace, known := j.namespaceOf(j.ownerOf(r, l))
	switch {
	case known && namespace != "" && r.Namespace == "":
		j.violated(Confinement, r, "%s has no namespace, its owner is in %q", r.key(), namespace)
	case known && namespace != "" && r.Namespace != namespace:
		j.violated(Confinement, r, "%s is outside of its owner's namespace %q", r.key(), namespace)
	case !known && r.Namespace == "":
		j.violated(Confinement, r, "%s has no namespace and no owner is known that may write there", r.key())
	}
}
