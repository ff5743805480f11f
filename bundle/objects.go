package bundle

import "strings"

// bindObjects parses the objects and checks that each placeholder names a
// reference of its resource.
func (c *compiler) bindObjects() {
	for _, e := range c.entries {
		if e.object == nil {
			continue
		}
		if e.plain {
			e.template = &template{object: e.object}
			continue
		}
		parsed, faults := parseTemplate(e.object)
		for _, f := range faults {
			c.refuse(e, ReasonUndeclaredReference, e.objectField(fieldPath(f.path)), "%v", f.err)
		}
		e.template = parsed
		for _, s := range parsed.slots {
			c.bindSlot(e, s)
		}
	}
}

func (c *compiler) bindSlot(e *entry, s *slot) {
	if s.isIdentity() {
		return
	}
	s.encode = e.isSecret() && len(s.path) == 2 && s.under("data")
	for _, p := range s.text {
		if p.reference == "" || e.declares[p.reference] {
			continue
		}
		c.refuse(e, ReasonUndeclaredReference, e.objectField(fieldPath(s.path)),
			`no reference of this resource is named %q (%s); declare it, or write "!!{%s}" for the text itself`,
			excerpt(p.reference), e.declared(), excerpt(p.reference))
	}
}

// isIdentity reports fields that an earlier pass refused.
func (s *slot) isIdentity() bool {
	if len(s.path) == 1 {
		return s.under("apiVersion") || s.under("kind")
	}
	return len(s.path) == 2 && (s.under("metadata", "name") || s.under("metadata", "namespace"))
}

// declared lists the names an author may have meant.
func (e *entry) declared() string {
	const limit = 10
	switch {
	case len(e.named) == 0:
		return "it has no named reference"
	case len(e.named) > limit:
		return "declared: " + strings.Join(e.named[:limit], ", ") + ", ..."
	}
	return "declared: " + strings.Join(e.named, ", ")
}
