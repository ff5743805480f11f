package observer

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Path names one place in an object, in the terms of managedFields: fields,
// list items by their keys or value, list items by index.
type Path []Step

// Step is one element of a Path. Exactly one of its parts is set; a step with
// none is an index.
type Step struct {
	// Field is a key of a map.
	Field string
	// Keys are the key fields of an item of a list that is a map, sorted.
	Keys []KeyField
	// Value is the item of a list that is a set; nil when the step is not one.
	Value any
	// Index is the position in a list.
	Index int
}

// KeyField is one key field of a list item and its value.
type KeyField struct {
	Name  string
	Value any
}

// String prints the path like ".spec.replicas",
// `.spec.containers[name="a"].image` or `.metadata.labels["a.b/c"]`.
func (p Path) String() string {
	var b strings.Builder
	for i := range p {
		p[i].print(&b)
	}
	return b.String()
}

func (s *Step) print(b *strings.Builder) {
	switch {
	case s.Field != "":
		printField(b, s.Field)
	case s.Keys != nil:
		b.WriteByte('[')
		for i, k := range s.Keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(k.Name)
			b.WriteByte('=')
			b.WriteString(literal(k.Value))
		}
		b.WriteByte(']')
	case s.Value != nil:
		b.WriteString("[=" + literal(s.Value) + "]")
	default:
		b.WriteString("[" + strconv.Itoa(s.Index) + "]")
	}
}

func printField(b *strings.Builder, name string) {
	if strings.ContainsAny(name, ".[]/=\" \n") {
		b.WriteString("[" + strconv.Quote(name) + "]")
		return
	}
	b.WriteByte('.')
	b.WriteString(name)
}

// literal prints a scalar as JSON. Numbers that are equal print equal, whether
// they came as int64 or as float64.
func literal(v any) string {
	switch n := v.(type) {
	case string:
		return strconv.Quote(n)
	case int64:
		return strconv.FormatInt(n, 10)
	case int:
		return strconv.Itoa(n)
	case float64:
		if n == float64(int64(n)) {
			return strconv.FormatInt(int64(n), 10)
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(raw)
}

// sameScalar compares two JSON scalars; 80 and 80.0 are the same.
func sameScalar(a, b any) bool {
	return literal(a) == literal(b)
}

func (p Path) with(s Step) Path {
	return append(slices.Clip(p), s)
}

// RemovePath returns desired without what p names. The result shares every
// branch that did not change with desired, which is not modified. Maps and
// lists that became empty by the removal go too: applying an empty map would
// claim it. A path that is not there gives desired itself.
func RemovePath(desired map[string]any, p Path) map[string]any {
	if len(p) == 0 {
		return desired
	}
	out, changed := removeFrom(desired, p)
	if !changed {
		return desired
	}
	if m, ok := out.(map[string]any); ok {
		return m
	}
	return map[string]any{}
}

// removeFrom returns what is left of v without p; nil when nothing is.
func removeFrom(v any, p Path) (rest any, changed bool) {
	switch node := v.(type) {
	case map[string]any:
		return removeFromMap(node, p)
	case []any:
		return removeFromList(node, p)
	}
	return v, false
}

func removeFromMap(m map[string]any, p Path) (any, bool) {
	child, ok := m[p[0].Field]
	if !ok {
		return m, false
	}
	var rest any
	if len(p) > 1 {
		var changed bool
		if rest, changed = removeFrom(child, p[1:]); !changed {
			return m, false
		}
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		if k != p[0].Field {
			out[k] = v
		}
	}
	if rest != nil {
		out[p[0].Field] = rest
	}
	if len(out) == 0 {
		return nil, true
	}
	return out, true
}

func removeFromList(list []any, p Path) (any, bool) {
	out := make([]any, 0, len(list))
	changed := false
	for i, item := range list {
		if !p[0].matches(item, i) {
			out = append(out, item)
			continue
		}
		rest, removed := any(nil), true
		if len(p) > 1 {
			rest, removed = removeFrom(item, p[1:])
		}
		changed = changed || removed
		if rest != nil {
			out = append(out, rest)
		}
	}
	if !changed {
		return list, false
	}
	if len(out) == 0 {
		return nil, true
	}
	return out, true
}

// matches says whether the list item at position i is the one s names. Key
// fields that the item does not have match anything.
func (s *Step) matches(item any, i int) bool {
	switch {
	case s.Keys != nil:
		m, ok := item.(map[string]any)
		return ok && keysMatch(s.Keys, m)
	case s.Value != nil:
		return sameScalar(s.Value, item)
	default:
		return s.Field == "" && s.Index == i
	}
}

// keysMatch says whether m is the item with these keys: at least one is there
// and none is different.
func keysMatch(keys []KeyField, m map[string]any) bool {
	found := false
	for _, k := range keys {
		v, ok := m[k.Name]
		if !ok {
			continue
		}
		if !sameScalar(v, k.Value) {
			return false
		}
		found = true
	}
	return found
}
