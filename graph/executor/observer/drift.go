package observer

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Holder is one managedFields entry that has a path.
type Holder struct {
	Manager     string
	Operation   metav1.ManagedFieldsOperationType
	Subresource string
}

// Conflict is a path that is held by somebody it may not be taken from without
// force: another apply manager, or a subresource such as an autoscaler's scale.
type Conflict struct {
	Path        Path
	Manager     string
	Operation   metav1.ManagedFieldsOperationType
	Subresource string
}

// String says who holds what.
func (c Conflict) String() string {
	s := c.Path.String() + " is held by " + c.Manager + " (" + string(c.Operation)
	if c.Subresource != "" {
		s += " of " + c.Subresource
	}
	return s + ")"
}

// Holders returns the entries that have path, something below it, or a list or
// map as a whole above it, in the server's order. Entries that cannot be read
// count as holders of everything: what is not understood is not taken away.
func Holders(managed []metav1.ManagedFieldsEntry, path Path) []Holder {
	var out []Holder
	entries := parseEntries(managed)
	for i := range entries {
		e := &entries[i]
		if e.holds(path) {
			out = append(out, e.Holder)
		}
	}
	return out
}

type parsedEntry struct {
	Holder
	tree *tree
}

func parseEntries(managed []metav1.ManagedFieldsEntry) []parsedEntry {
	out := make([]parsedEntry, 0, len(managed))
	for i := range managed {
		e := &managed[i]
		out = append(out, parsedEntry{
			Holder: Holder{Manager: e.Manager, Operation: e.Operation, Subresource: e.Subresource},
			tree:   treeOf(e.FieldsV1),
		})
	}
	return out
}

// treeOf returns nil for a set that cannot be read.
func treeOf(set *metav1.FieldsV1) *tree {
	if set == nil {
		return &tree{}
	}
	var m map[string]any
	if err := json.Unmarshal(set.GetRawBytes(), &m); err != nil {
		return nil
	}
	return parseTree(m)
}

// holds is true for an entry that cannot be read, and false for an empty one.
func (e *parsedEntry) holds(p Path) bool {
	return e.tree == nil || (!e.tree.leaf() && e.tree.holds(p))
}

// SplitDrift divides the paths that Owns found missing, for an object read
// live with its managedFields. Paths that nobody holds, or that only Update
// entries without a subresource hold, are to be set back (retake). The others
// are reported, one Conflict per holder (foreign); entries of manager,
// which is our own, are no conflict. Order follows missing, then
// managedFields.
func SplitDrift(live *unstructured.Unstructured, manager string, missing ...Path) (retake []Path, foreign []Conflict) {
	entries := parseEntries(live.GetManagedFields())
	for _, p := range missing {
		conflicts := conflictsOf(entries, manager, p)
		if len(conflicts) == 0 {
			retake = append(retake, p)
		}
		foreign = append(foreign, conflicts...)
	}
	return retake, foreign
}

func conflictsOf(entries []parsedEntry, manager string, p Path) []Conflict {
	var out []Conflict
	for i := range entries {
		e := &entries[i]
		plainUpdate := e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == ""
		ours := e.Manager == manager && e.Subresource == ""
		if plainUpdate || ours || !e.holds(p) {
			continue
		}
		out = append(out, Conflict{Path: p, Manager: e.Manager, Operation: e.Operation, Subresource: e.Subresource})
	}
	return out
}
