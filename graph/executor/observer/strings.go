package observer

import "sync"

const (
	tableSize     = 4096
	longestShared = 128
)

// stringTable keeps one copy of strings that repeat across objects: field
// names, label keys and values, owners. It is bounded: when a generation is
// full it becomes the old one, and strings that are still asked for move on.
type stringTable struct {
	mu       sync.Mutex
	now, old map[string]string
}

func newStringTable() *stringTable {
	return &stringTable{now: map[string]string{}}
}

func (t *stringTable) one(s string) string {
	if s == "" || len(s) > longestShared {
		return s
	}
	if known, ok := t.now[s]; ok {
		return known
	}
	if known, ok := t.old[s]; ok {
		s = known
	}
	if len(t.now) >= tableSize {
		t.old, t.now = t.now, make(map[string]string, tableSize)
	}
	t.now[s] = s
	return s
}
