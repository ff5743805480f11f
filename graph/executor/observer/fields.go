package observer

import (
	"crypto/sha256"
	"encoding/binary"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fields are the managedFields entries of our own manager on one object,
// without those of subresources. Comparable values of a few words: objects
// with equal entries share one set. The zero value owns nothing.
type Fields struct {
	set *fieldSet
}

// Entry is one managedFields entry of our manager.
type Entry struct {
	// Index is the entry's position in metadata.managedFields as the server
	// sent it; a JSON patch names the entry by it.
	Index int
	// Operation is Update or Apply.
	Operation metav1.ManagedFieldsOperationType
	// APIVersion is the version the fields are written in.
	APIVersion string
}

// Digest identifies a field set: the union of all entries, whatever their
// operation and order.
type Digest [16]byte

// fieldSet is immutable and shared.
type fieldSet struct {
	entries []Entry
	raw     []string // compact fieldsV1, sorted keys, one per entry
	digest  Digest
}

// Empty reports whether our manager has no entry.
func (f Fields) Empty() bool { return f.set == nil }

// Entries returns our entries in the server's order. Do not modify it.
func (f Fields) Entries() []Entry {
	if f.set == nil {
		return nil
	}
	return f.set.entries
}

// Entry returns our entry with the given operation.
func (f Fields) Entry(op metav1.ManagedFieldsOperationType) (Entry, bool) {
	for _, e := range f.Entries() {
		if e.Operation == op {
			return e, true
		}
	}
	return Entry{}, false
}

// Digest is equal for equal field sets. Comparing two says whether our field
// set changed, without looking at the fields.
func (f Fields) Digest() Digest {
	if f.set == nil {
		return Digest{}
	}
	return f.set.digest
}

// Owns returns the paths of the leaves of desired that none of our entries
// has, sorted; empty means that all of it is ours. List items are matched by
// their keys, where key fields that desired does not have match anything; a
// node without children covers all below it. Nulls, empty maps and lists are
// skipped, and so are apiVersion, kind and the identity in metadata.
//
// It costs O(size of desired + size of the set).
func (f Fields) Owns(desired map[string]any) (missing []Path) {
	f.tree().missing(desired, nil, &missing)
	return missing
}

func (f Fields) tree() *tree {
	t := &tree{}
	if f.set == nil {
		return t
	}
	for _, raw := range f.set.raw {
		var set map[string]any
		if decode(raw, &set) == nil {
			t.merge(set)
		}
	}
	return t
}

// FieldsOf reads the entries of manager from an object as it came from the API
// server, managedFields included. The result shares nothing with other objects;
// stores share theirs.
func FieldsOf(object map[string]any, manager string) Fields {
	return fieldsFrom(managedFields(object), manager, nil)
}

func managedFields(object map[string]any) []any {
	metadata, _ := object["metadata"].(map[string]any)
	list, _ := metadata["managedFields"].([]any)
	return list
}

// fieldsFrom builds the set, or takes an equal one from the table.
func fieldsFrom(list []any, manager string, table *fieldTable) Fields {
	var entries []Entry
	var sets []map[string]any
	for i, v := range list {
		m, _ := v.(map[string]any)
		if m["manager"] != manager || !emptyText(m["subresource"]) {
			continue
		}
		op, _ := m["operation"].(string)
		version, _ := m["apiVersion"].(string)
		set, _ := m["fieldsV1"].(map[string]any)
		entries = append(entries, Entry{Index: i, Operation: metav1.ManagedFieldsOperationType(op), APIVersion: version})
		sets = append(sets, set)
	}
	if len(entries) == 0 {
		return Fields{}
	}
	return Fields{set: table.intern(entries, sets)}
}

func emptyText(v any) bool {
	s, _ := v.(string)
	return s == ""
}

// newFieldSet computes the digest over the union, so that neither migrating an
// entry from Update to Apply nor its index changes it.
func newFieldSet(entries []Entry, raw []string) *fieldSet {
	s := &fieldSet{entries: entries, raw: raw}
	union := map[string]any{}
	for _, r := range raw {
		var set map[string]any
		if decode(r, &set) == nil {
			unite(union, set)
		}
	}
	sum := sha256.Sum256(appendSet(nil, union))
	copy(s.digest[:], sum[:])
	return s
}

// unite adds set to into. An empty set stays what it is beside a larger one:
// the larger one is more exact, and both cover the same leaf.
func unite(into, set map[string]any) {
	for name, v := range set {
		below, ok := v.(map[string]any)
		if !ok {
			continue
		}
		child, ok := into[name].(map[string]any)
		if !ok {
			child = map[string]any{}
			into[name] = child
		}
		unite(child, below)
	}
}

// appendSet writes a field set as compact JSON with sorted keys.
func appendSet(b []byte, set map[string]any) []byte {
	b = append(b, '{')
	for i, name := range sortedKeys(set) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, name)
		b = append(b, ':')
		below, _ := set[name].(map[string]any)
		b = appendSet(b, below)
	}
	return append(b, '}')
}

// appendKey writes what makes two sets equal: entries in order with operation,
// version and fields.
func appendKey(b []byte, entries []Entry, sets []map[string]any) []byte {
	for i, e := range entries {
		b = binary.AppendUvarint(b, uint64(e.Index))
		b = append(b, e.Operation...)
		b = append(b, 0)
		b = append(b, e.APIVersion...)
		b = append(b, 0)
		b = appendSet(b, sets[i])
	}
	return b
}
