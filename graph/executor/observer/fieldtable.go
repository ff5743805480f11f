package observer

import (
	"encoding/json"
	"runtime"
	"sync"
	"weak"
)

// fieldTable holds one copy of each field set. It does not keep sets alive: an
// entry goes when the last object that uses it has gone.
type fieldTable struct {
	mu   sync.Mutex
	sets map[string]weak.Pointer[fieldSet]
	buf  []byte
}

func newFieldTable() *fieldTable {
	return &fieldTable{sets: map[string]weak.Pointer[fieldSet]{}}
}

// intern returns the set with these entries. A nil table always makes a new
// one.
func (t *fieldTable) intern(entries []Entry, sets []map[string]any) *fieldSet {
	if t == nil {
		return newFieldSet(entries, rawSets(sets))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = appendKey(t.buf[:0], entries, sets)
	if known, ok := t.sets[string(t.buf)]; ok {
		if s := known.Value(); s != nil {
			return s
		}
	}
	s := newFieldSet(entries, rawSets(sets))
	key := string(t.buf)
	t.sets[key] = weak.Make(s)
	runtime.AddCleanup(s, t.drop, key)
	return s
}

// drop removes the entry of a set that is gone, unless a new one took its
// place.
func (t *fieldTable) drop(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.sets[key]; ok && known.Value() == nil {
		delete(t.sets, key)
	}
}

func (t *fieldTable) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.sets)
}

func rawSets(sets []map[string]any) []string {
	raw := make([]string, len(sets))
	for i, set := range sets {
		raw[i] = string(appendSet(nil, set))
	}
	return raw
}

// appendString writes s as a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x80 {
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(b, '"', '"')
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
