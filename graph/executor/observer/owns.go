package observer

import "maps"

// identityFields are never owned by anyone: the API server leaves them out of
// managedFields.
func identityField(p Path) bool {
	if len(p) == 1 {
		return p[0].Field == "apiVersion" || p[0].Field == "kind"
	}
	if len(p) != 2 || p[0].Field != "metadata" {
		return false
	}
	switch p[1].Field {
	case "name", "namespace", "uid", "resourceVersion":
		return true
	}
	return false
}

// missing collects the leaves of desired that the set does not have. Where a
// whole list is missing its path stands for all items, since nothing is known
// of how they are told apart.
func (t *tree) missing(desired any, p Path, out *[]Path) {
	if empty(desired) || identityField(p) || (t != nil && t.leaf() && len(p) > 0) {
		return
	}
	switch v := desired.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			t.child(name).missing(v[name], p.with(Step{Field: name}), out)
		}
	case []any:
		t.missingItems(v, p, out)
	default:
		if t == nil {
			*out = append(*out, p)
		}
	}
}

func (t *tree) child(name string) *tree {
	if t == nil {
		return nil
	}
	return t.fields[name]
}

func (t *tree) missingItems(list []any, p Path, out *[]Path) {
	if t == nil || len(t.items) == 0 {
		*out = append(*out, p)
		return
	}
	for i, v := range list {
		found := t.find(v, i)
		if found == nil {
			*out = append(*out, p.with(t.stepFor(v, i)))
			continue
		}
		found.child.missing(withoutKeys(v, found.step.Keys), p.with(found.step), out)
	}
}

// find returns the item of the set that v is. An item that has all key fields
// is preferred to one that matches because fields are absent.
func (t *tree) find(v any, i int) *item {
	var loose *item
	for k := range t.items {
		it := &t.items[k]
		if !it.step.matches(v, i) {
			continue
		}
		if m, ok := v.(map[string]any); !ok || hasAll(m, it.step.Keys) {
			return it
		}
		if loose == nil {
			loose = it
		}
	}
	return loose
}

func hasAll(m map[string]any, keys []KeyField) bool {
	for _, k := range keys {
		if _, ok := m[k.Name]; !ok {
			return false
		}
	}
	return true
}

// stepFor names an item that the set does not have, by the key fields that the
// other items of the list have.
func (t *tree) stepFor(v any, i int) Step {
	example := t.items[0].step
	m, isMap := v.(map[string]any)
	switch {
	case example.Keys != nil && isMap:
		s := Step{}
		for _, k := range example.Keys {
			if value, ok := m[k.Name]; ok {
				s.Keys = append(s.Keys, KeyField{Name: k.Name, Value: value})
			}
		}
		if s.Keys != nil {
			return s
		}
	case example.Value != nil && !isMap && v != nil:
		return Step{Value: v}
	}
	return Step{Index: i}
}

// withoutKeys leaves out the key fields: the match by them proved that they
// are owned.
func withoutKeys(v any, keys []KeyField) any {
	m, ok := v.(map[string]any)
	if !ok || len(keys) == 0 {
		return v
	}
	rest := maps.Clone(m)
	for _, k := range keys {
		delete(rest, k.Name)
	}
	return rest
}

// empty values are dropped by the API server or own nothing that could be
// lost.
func empty(v any) bool {
	switch n := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(n) == 0
	case []any:
		return len(n) == 0
	}
	return false
}
