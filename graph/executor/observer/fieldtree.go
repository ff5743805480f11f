package observer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// tree is a parsed field set. A node without children covers all below it.
type tree struct {
	fields map[string]*tree
	items  []item
}

// item is a list item of a field set: by keys, by value or by index.
type item struct {
	step  Step
	child *tree
}

func (t *tree) leaf() bool {
	return len(t.fields) == 0 && len(t.items) == 0
}

// parseTree reads fieldsV1 as decoded from JSON. What it does not understand
// is left out: such a path then counts as not owned, which is seen, while the
// contrary would hide drift.
func parseTree(set map[string]any) *tree {
	t := &tree{}
	t.merge(set)
	return t
}

func (t *tree) merge(set map[string]any) {
	for _, name := range sortedKeys(set) {
		below, ok := set[name].(map[string]any)
		if !ok {
			continue
		}
		if child := t.childFor(name); child != nil {
			child.merge(below)
		}
	}
}

// childFor returns the child an element of fieldsV1 stands for; nil for ".",
// which says that the node itself is a member, and for unknown elements.
func (t *tree) childFor(name string) *tree {
	prefix, rest, ok := strings.Cut(name, ":")
	if !ok {
		return nil
	}
	if prefix == "f" {
		return t.field(rest)
	}
	step, ok := parseItem(prefix, rest)
	if !ok {
		return nil
	}
	for i := range t.items {
		if t.items[i].step.equal(&step) {
			return t.items[i].child
		}
	}
	child := &tree{}
	t.items = append(t.items, item{step: step, child: child})
	return child
}

func (t *tree) field(name string) *tree {
	if child, ok := t.fields[name]; ok {
		return child
	}
	if t.fields == nil {
		t.fields = map[string]*tree{}
	}
	child := &tree{}
	t.fields[name] = child
	return child
}

func parseItem(prefix, rest string) (Step, bool) {
	switch prefix {
	case "k":
		var keys map[string]any
		if decode(rest, &keys) != nil || len(keys) == 0 {
			return Step{}, false
		}
		s := Step{}
		for _, name := range sortedKeys(keys) {
			s.Keys = append(s.Keys, KeyField{Name: name, Value: keys[name]})
		}
		return s, true
	case "v":
		var value any
		if decode(rest, &value) != nil || value == nil {
			return Step{}, false
		}
		return Step{Value: value}, true
	case "i":
		var index int
		if decode(rest, &index) != nil {
			return Step{}, false
		}
		return Step{Index: index}, true
	}
	return Step{}, false
}

// decode keeps the digits of numbers, so that large integers compare exactly.
func decode(text string, into any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	return d.Decode(into)
}

func (s *Step) equal(o *Step) bool {
	if (s.Keys == nil) != (o.Keys == nil) || (s.Value == nil) != (o.Value == nil) {
		return false
	}
	if s.Value != nil {
		return sameScalar(s.Value, o.Value)
	}
	sameKey := func(a, b KeyField) bool { return a.Name == b.Name && sameScalar(a.Value, b.Value) }
	return s.Field == o.Field && s.Index == o.Index && slices.EqualFunc(s.Keys, o.Keys, sameKey)
}

// holds says whether the set has p, something below p, or something above p
// that covers it.
func (t *tree) holds(p Path) bool {
	if t.leaf() || len(p) == 0 {
		return true
	}
	if p[0].Field != "" {
		child, ok := t.fields[p[0].Field]
		return ok && child.holds(p[1:])
	}
	for i := range t.items {
		if p[0].covers(&t.items[i].step) && t.items[i].child.holds(p[1:]) {
			return true
		}
	}
	return false
}

// covers says whether s, which may lack key fields, names the item o.
func (s *Step) covers(o *Step) bool {
	if s.Keys == nil || o.Keys == nil {
		return s.equal(o)
	}
	for _, k := range s.Keys {
		if !slices.ContainsFunc(o.Keys, func(other KeyField) bool {
			return other.Name == k.Name && sameScalar(other.Value, k.Value)
		}) {
			return false
		}
	}
	return true
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
