package bundle

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// template is an object whose placeholders were found once, at compile time.
// Immutable and safe for concurrent use after parseTemplate.
type template struct {
	// object is the decoded object: escapes are resolved, strings with
	// placeholders stand as they were written.
	object map[string]any
	// root leads to the placeholders; nil when there are none.
	root *branch
	// slots are the strings with placeholders, in the order of their paths.
	slots []*slot
}

// branch is a container on the way to at least one slot: the only part of an
// object that a render copies.
type branch struct {
	step     step
	slot     *slot
	children []*branch
}

// step is a map key (its index is mapStep) or a list index.
type step struct {
	key   string
	index int
}

// slot is one string with placeholders.
type slot struct {
	path []step
	text text
	// encode says that decoded values must be base64-encoded here: the slot is
	// an entry below the data of a Secret.
	encode bool
}

// mapStep is the index of steps into maps.
const mapStep = -1

// String returns the step as it continues a field path.
func (s step) String() string {
	switch {
	case s.index != mapStep:
		return "[" + strconv.Itoa(s.index) + "]"
	case s.key == "" || strings.ContainsAny(s.key, `./[]'" `):
		return "[" + strconv.Quote(excerptTo(s.key, 100)) + "]"
	}
	return "." + excerptTo(s.key, 100)
}

// fieldPath joins steps: .spec.containers[0].image.
func fieldPath(path []step) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteString(s.String())
	}
	return b.String()
}

// under says that the slot is at or below the given map keys.
func (s *slot) under(keys ...string) bool {
	if len(s.path) < len(keys) {
		return false
	}
	for i, key := range keys {
		if s.path[i].index != mapStep || s.path[i].key != key {
			return false
		}
	}
	return true
}

// textError is a string that cannot be parsed, at its place in the object.
type textError struct {
	path []step
	err  error
}

// parseTemplate finds every placeholder of the object's string values; map
// keys are never processed. It takes the object over and resolves escapes in
// place. All bad strings are returned, in the order of their paths. O(size).
func parseTemplate(object map[string]any) (*template, []textError) {
	p := &templateParser{}
	_, root := p.parse(object, step{index: mapStep})
	return &template{object: object, root: root, slots: p.slots}, p.errs
}

type templateParser struct {
	path  []step
	slots []*slot
	errs  []textError
}

// parse returns the value with escapes resolved, and the branch to the
// placeholders in it, if any.
func (p *templateParser) parse(v any, at step) (any, *branch) {
	switch v := v.(type) {
	case string:
		return p.parseString(v, at)
	case map[string]any:
		b := &branch{step: at}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = p.descend(v[key], step{key: key, index: mapStep}, b)
		}
		return v, b.orNil()
	case []any:
		b := &branch{step: at}
		for i := range v {
			v[i] = p.descend(v[i], step{index: i}, b)
		}
		return v, b.orNil()
	}
	return v, nil
}

func (p *templateParser) descend(v any, at step, parent *branch) any {
	p.path = append(p.path, at)
	v, child := p.parse(v, at)
	p.path = p.path[:len(p.path)-1]
	if child != nil {
		parent.children = append(parent.children, child)
	}
	return v
}

func (p *templateParser) parseString(s string, at step) (any, *branch) {
	t, err := parseText(s)
	if err != nil {
		p.errs = append(p.errs, textError{path: slices.Clone(p.path), err: err})
		return s, nil
	}
	if t.static() {
		return t.literal(), nil
	}
	found := &slot{path: slices.Clone(p.path), text: t}
	p.slots = append(p.slots, found)
	return s, &branch{step: at, slot: found}
}

func (b *branch) orNil() *branch {
	if len(b.children) == 0 {
		return nil
	}
	return b
}

// slotError says which string of the object could not be rendered, and why.
type slotError struct {
	slot *slot
	// reference is the name of the value that does not fit.
	reference string
	err       error
}

// Error leaves the place out: whoever reports the error gives it as the field.
func (e *slotError) Error() string {
	if e.reference == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("reference %q: %v", e.reference, e.err)
}

func (e *slotError) Unwrap() error { return e.err }

// render fills the placeholders in. Branches without a placeholder are shared
// with the template and must not be modified; substituted values are copies.
func (t *template) render(values map[string]value) (map[string]any, error) {
	if t.root == nil {
		return t.object, nil
	}
	left := budget(maxSubstituted)
	out, err := t.root.render(t.object, values, &left)
	if err != nil {
		return nil, err
	}
	object, ok := out.(map[string]any)
	if !ok {
		return nil, errors.New("the object is not a map")
	}
	return object, nil
}

func (b *branch) render(v any, values map[string]value, left *budget) (any, error) {
	if b.slot != nil {
		return b.slot.render(values, left)
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for _, child := range b.children {
			filled, err := child.render(v[child.step.key], values, left)
			if err != nil {
				return nil, err
			}
			out[child.step.key] = filled
		}
		return out, nil
	case []any:
		out := slices.Clone(v)
		for _, child := range b.children {
			filled, err := child.render(v[child.step.index], values, left)
			if err != nil {
				return nil, err
			}
			out[child.step.index] = filled
		}
		return out, nil
	}
	return v, nil
}

func (s *slot) render(values map[string]value, left *budget) (any, error) {
	if name := s.text.whole(); name != "" {
		return s.renderWhole(name, values[name], left)
	}
	var out strings.Builder
	plain := false
	for _, p := range s.text {
		piece := p.literal
		if p.reference != "" {
			read := values[p.reference]
			printed, err := printed(read.data)
			if err != nil {
				return nil, &slotError{slot: s, reference: p.reference, err: err}
			}
			piece, plain = printed, plain || read.plain
		}
		if err := left.spend(len(piece)); err != nil {
			return nil, &slotError{slot: s, err: err}
		}
		out.WriteString(piece)
	}
	return s.encoded(out.String(), plain), nil
}

func (s *slot) renderWhole(name string, read value, left *budget) (any, error) {
	c, err := copyOf(read.data, left)
	if err != nil {
		return nil, &slotError{slot: s, reference: name, err: err}
	}
	if str, ok := c.(string); ok {
		return s.encoded(str, read.plain), nil
	}
	return c, nil
}

func (s *slot) encoded(str string, plain bool) string {
	if plain && s.encode {
		return base64.StdEncoding.EncodeToString([]byte(str))
	}
	return str
}
