package bundle

import "github.com/truss-dev/truss/graph/resource"

// checkSecrets refuses data of Secrets that would land outside the data of a
// Secret, unless the object is marked. That the mark stands in the Bundle
// itself, and not in a rendered value, was checked before.
func (c *compiler) checkSecrets() {
	for _, e := range c.entries {
		if e.template == nil || e.allowsSecretData() {
			continue
		}
		for _, s := range e.template.slots {
			c.checkSecretSlot(e, s)
		}
	}
}

func (c *compiler) checkSecretSlot(e *entry, s *slot) {
	if e.isSecret() && (s.under("data") || s.under("stringData")) {
		return
	}
	for _, p := range s.text {
		if r := e.byName[p.reference]; r != nil && r.secret {
			c.refuse(e, ReasonSecretData, e.objectField(fieldPath(s.path)),
				"reference %q reads data of a Secret; use it in data or stringData of a Secret, or set the annotation %s: \"true\" on this object",
				r.name, resource.AllowSecretDataAnnotation)
		}
	}
}

func (e *entry) allowsSecretData() bool {
	annotations, _ := e.metadata["annotations"].(map[string]any)
	return annotations[resource.AllowSecretDataAnnotation] == "true"
}
