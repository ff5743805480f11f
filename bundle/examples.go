package bundle

import (
	"errors"

	kjson "k8s.io/apimachinery/pkg/util/json"

	v1 "github.com/truss-dev/truss/bundle/v1"
)

// bindExample decodes the example of a reference; null counts as none (Smith).
func (c *compiler) bindExample(e *entry, bound *reference, r *v1.Reference) bool {
	if r.Example == nil || len(r.Example.Raw) == 0 {
		return true
	}
	var v any
	if err := kjson.Unmarshal(r.Example.Raw, &v); err != nil {
		c.refuse(e, ReasonInvalidExample, bound.field+".example", "reference %q: it is not JSON: %v", bound.name, err)
		return false
	}
	if v == nil {
		return true
	}
	if _, isText := v.(string); !isText && r.Modifier != "" {
		c.refuse(e, ReasonInvalidExample, bound.field+".example",
			"reference %q: modifier %s gives a string, but the example is %s", bound.name, r.Modifier, kindOf(v))
		return false
	}
	bound.example = &value{data: v, plain: bound.plain}
	return true
}

// compileExamples gives every resource whose used references all have an
// example a renderer that reads those; the first render shows examples that
// do not fit. Resources without placeholders have nothing to check early.
func (c *compiler) compileExamples() {
	for _, e := range c.entries {
		if e.template == nil || !e.hasExamples() {
			continue
		}
		early := newRenderer(e, readExamples)
		_, err := early.fill(early.examples())
		var unfit *slotError
		switch {
		case errors.As(err, &unfit):
			c.refuse(e, ReasonInvalidExample, e.objectField(fieldPath(unfit.slot.path)), "%v", unfit)
		case err != nil:
			c.refuse(e, ReasonInvalidExample, e.objectField(""), "%v", err)
		default:
			e.example = early
		}
	}
}

func (e *entry) hasExamples() bool {
	if len(e.template.slots) == 0 {
		return false
	}
	for _, s := range e.template.slots {
		for _, p := range s.text {
			if p.reference == "" {
				continue
			}
			if r := e.byName[p.reference]; r == nil || r.example == nil {
				return false
			}
		}
	}
	return true
}
