package bundle

import (
	"fmt"
	"slices"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/readiness"
)

// reference is a named reference that passed its checks.
type reference struct {
	name string
	// node is the resource that reads, need the one that is read.
	node string
	need graph.ID
	// field is the path of the reference in the Bundle.
	field  string
	reader reader
	// secret says that the value is data of a Secret.
	secret bool
	// plain says that the value is decoded.
	plain   bool
	example *value
}

// bindReferences checks every reference and gives each named one its reader.
func (c *compiler) bindReferences() {
	for _, e := range c.entries {
		if len(e.source.References) == 0 {
			continue
		}
		e.byName = make(map[string]*reference, len(e.source.References))
		e.declares = make(map[string]bool, len(e.source.References))
		for i := range e.source.References {
			c.bindReference(e, i)
		}
		slices.Sort(e.named)
	}
}

func (c *compiler) bindReference(e *entry, i int) {
	r := &e.source.References[i]
	field := e.field(fmt.Sprintf(".references[%d]", i))
	need := c.byName[r.Resource]
	if need == nil {
		c.refuse(e, ReasonUnknownReference, field+".resource",
			"resource %q is not in the Bundle; add it or correct the name", excerpt(r.Resource))
	}
	if r.Name == "" {
		c.checkNameless(e, r, field)
		return
	}
	if !c.declare(e, r.Name, field) || need == nil {
		return
	}
	bound := &reference{name: r.Name, node: e.source.Name, need: graph.ID(r.Resource), field: field}
	if !c.bindReader(e, bound, r, need) || !c.bindExample(e, bound, r) {
		return
	}
	e.references = append(e.references, bound)
	e.byName[r.Name] = bound
}

// checkNameless refuses values that nothing can use.
func (c *compiler) checkNameless(e *entry, r *v1.Reference, field string) {
	if r.Path == "" && r.Modifier == "" {
		return
	}
	c.refuse(e, ReasonInvalidPath, field+".name",
		"a value is read but has no name to use it by; add a name, or remove path and modifier to order only")
}

// declare records a name; false when it was taken, or is no name.
func (c *compiler) declare(e *entry, name, field string) bool {
	if len(name) > 253 || !referenceName.MatchString(name) {
		c.refuse(e, ReasonInvalidName, field+".name",
			"%q is not the name of a reference; use letters, digits, '-' and '.'", excerpt(name))
		return false
	}
	if e.declares[name] {
		c.refuse(e, ReasonDuplicateReference, field+".name",
			"two references of this resource are named %q; rename one", excerpt(name))
		return false
	}
	e.named = append(e.named, name)
	e.declares[name] = true
	return true
}

// bindReader decides, from modifier and path, how the value is read.
func (c *compiler) bindReader(e *entry, bound *reference, r *v1.Reference, need *entry) bool {
	switch r.Modifier {
	case "":
		return c.bindPath(e, bound, r, need)
	case v1.ModifierOutput:
		if r.Path != outputName && r.Path != outputKind {
			c.refuse(e, ReasonInvalidPath, bound.field+".path",
				"with modifier output the path is name or kind, not %q", excerpt(r.Path))
			return false
		}
		bound.reader = outputReader{need: bound.need, path: r.Path, self: need.isOutput()}
		return true
	case v1.ModifierBindSecret:
		key, ok := dataKey(r.Path)
		if !ok {
			c.refuse(e, ReasonInvalidPath, bound.field+".path",
				"with modifier bindsecret the path is data.<key>, not %q", excerpt(r.Path))
			return false
		}
		bound.reader = dataReader{need: bound.need, key: key, self: need.isOutput()}
		bound.secret, bound.plain = true, true
		return true
	}
	c.refuse(e, ReasonInvalidModifier, bound.field+".modifier",
		"there is no modifier %q; use output, bindsecret or none", excerpt(r.Modifier))
	return false
}

func (c *compiler) bindPath(e *entry, bound *reference, r *v1.Reference, need *entry) bool {
	if r.Path == "" {
		c.refuse(e, ReasonInvalidPath, bound.field+".path",
			"reference %q has no path to read; write one, or remove the name to order only", bound.name)
		return false
	}
	path, err := readiness.ParsePath(r.Path)
	if err != nil {
		c.refuse(e, ReasonInvalidPath, bound.field+".path", "reference %q: %v", bound.name, err)
		return false
	}
	bound.reader = pathReader{need: bound.need, text: r.Path, path: path}
	bound.secret = need.isSecret() && !harmlessSecretPath(r.Path)
	return true
}

// isSecret reports whether the entry describes a Secret.
func (e *entry) isSecret() bool {
	return e.identity.Group == "" && e.identity.Kind == kindSecret
}

// isOutput reports whether the entry is a Secret or a ConfigMap, and so its
// own output.
func (e *entry) isOutput() bool {
	return e.isSecret() || e.identity.Group == "" && e.identity.Kind == kindConfigMap
}

// invalid is a mistake that only a live value could show.
func (r *reference) invalid(reason, format string, args ...any) error {
	return &resource.InvalidError{
		Reason:  reason,
		Node:    r.node,
		Field:   r.field + ".path",
		Message: fmt.Sprintf("reference %q: ", r.name) + fmt.Sprintf(format, args...),
	}
}

// wait says that a value is not there yet.
func (r *reference) wait(what string) error {
	return &resource.WaitError{Message: fmt.Sprintf("reference %q: waits for %s: %s", r.name, r.need, what)}
}
