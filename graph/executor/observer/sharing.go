package observer

import (
	"encoding/binary"
	"sync"
)

const (
	tableSize     = 4096
	longestShared = 128
	valuesSize    = 1024
	valueLimit    = 2048 // bytes of a value's encoding
)

// stringTable keeps one copy of strings that repeat across objects: field
// names, label keys and values, owners. It is bounded: when a generation is
// full it becomes the old one, and strings that are still asked for move on.
//
// It does the same for whole label maps and lists of owners: the children of one
// owner mostly have equal ones, and a small map costs more than all its text.
type stringTable struct {
	mu                   sync.Mutex
	now, old             map[string]string
	valuesNow, valuesOld map[string]any
	buf                  []byte
}

func newStringTable() *stringTable {
	return &stringTable{now: map[string]string{}, valuesNow: map[string]any{}}
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

// value returns a value equal to v, built by build at its first appearance.
func (t *stringTable) value(v any, build func(any) any) any {
	encoded, ok := appendValue(t.buf[:0], v)
	t.buf = encoded[:0]
	if !ok || len(encoded) > valueLimit {
		return build(v)
	}
	if known, ok := t.valuesNow[string(encoded)]; ok {
		return known
	}
	shared, ok := t.valuesOld[string(encoded)]
	if !ok {
		shared = build(v)
	}
	if len(t.valuesNow) >= valuesSize {
		t.valuesOld, t.valuesNow = t.valuesNow, make(map[string]any, valuesSize)
	}
	t.valuesNow[string(encoded)] = shared
	return shared
}

// appendValue encodes a value so that equal bytes mean equal values; false for
// types that labels and owners do not have.
func appendValue(b []byte, v any) ([]byte, bool) {
	var ok bool
	switch n := v.(type) {
	case string:
		b = append(binary.AppendUvarint(append(b, 's'), uint64(len(n))), n...)
	case bool:
		b = append(b, 'f')
		if n {
			b[len(b)-1] = 't'
		}
	case map[string]any:
		b = binary.AppendUvarint(append(b, 'm'), uint64(len(n)))
		for _, k := range sortedKeys(n) {
			b, _ = appendValue(b, k)
			if b, ok = appendValue(b, n[k]); !ok {
				return b, false
			}
		}
	case []any:
		b = binary.AppendUvarint(append(b, 'l'), uint64(len(n)))
		for i := range n {
			if b, ok = appendValue(b, n[i]); !ok {
				return b, false
			}
		}
	default:
		return b, false
	}
	return b, true
}
