package observer

// Doubt is a leaf that may not be ours any more although our field set covers
// it.
type Doubt struct {
	Path Path
	// Absent says that the live object does not have it at all.
	Absent bool
}

// Doubts returns the leaves of desired whose live value is another while an
// empty set of ours lies above them. Such a set has two meanings: a map or list
// that is owned as a whole, whose values the API server may have rewritten, or
// one of which nothing but itself is left to us, since others took all that was
// in it. Only the managedFields of everybody tell which, so one live read
// decides. It costs O(size of desired).
func (f Fields) Doubts(desired, live map[string]any) []Doubt {
	w := doubter{}
	w.walk(f.tree(), desired, live, nil)
	return w.found
}

type doubter struct {
	found []Doubt
}

func (w *doubter) walk(t *tree, desired, live any, p Path) {
	if t == nil || empty(desired) || identityField(p) {
		return
	}
	covered := t.leaf() && len(p) > 0
	switch v := desired.(type) {
	case map[string]any:
		have, _ := live.(map[string]any)
		if covered {
			w.compare(v, have, p)
			return
		}
		for _, name := range sortedKeys(v) {
			w.walk(t.child(name), v[name], have[name], p.with(Step{Field: name}))
		}
	case []any:
		have, _ := live.([]any)
		if covered {
			w.compareList(v, have, p)
			return
		}
		w.walkItems(t, v, have, p)
	}
}

func (w *doubter) walkItems(t *tree, desired, live []any, p Path) {
	for i, v := range desired {
		found := t.find(v, i)
		if found == nil {
			continue
		}
		for k := range live {
			if found.step.matches(live[k], k) {
				w.walk(found.child, withoutKeys(v, found.step.Keys), live[k], p.with(found.step))
				break
			}
		}
	}
}

// compare collects the leaves that differ. Fields that only live has are
// defaults, or others'.
func (w *doubter) compare(desired, live map[string]any, p Path) {
	for _, name := range sortedKeys(desired) {
		at, value := p.with(Step{Field: name}), desired[name]
		have, present := live[name]
		nested, isMap := value.(map[string]any)
		list, isList := value.([]any)
		switch {
		case empty(value):
		case !present:
			w.found = append(w.found, Doubt{Path: at, Absent: true})
		case isMap:
			below, _ := have.(map[string]any)
			w.compare(nested, below, at)
		case isList:
			below, _ := have.([]any)
			w.compareList(list, below, at)
		case !sameScalar(value, have):
			w.found = append(w.found, Doubt{Path: at})
		}
	}
}

// compareList doubts a list as a whole: nothing tells how its items are told
// apart.
func (w *doubter) compareList(desired, live []any, p Path) {
	below := doubter{}
	for i := range min(len(desired), len(live)) {
		below.compare(map[string]any{"": desired[i]}, map[string]any{"": live[i]}, nil)
	}
	if len(desired) != len(live) || len(below.found) > 0 {
		w.found = append(w.found, Doubt{Path: p, Absent: len(live) == 0})
	}
}
