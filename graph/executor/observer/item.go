package observer

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Item is one object as a store knows it.
type Item struct {
	// Object is the object without managedFields. It is shared: do not modify
	// it. Objects of metadata watches hold apiVersion, kind and metadata; the
	// kind is empty unless a mapping of the resource was asked for before.
	Object *unstructured.Unstructured
	// Fields is what our own field manager owns; empty for metadata watches.
	Fields Fields
}

// Presence says how much a store knows of one object.
type Presence uint8

const (
	// Unknown means that nothing may be concluded before one live read, whose
	// outcome is handed to Observe or ObserveDeleted: the store is not
	// synced, or versions do not compare, or the cache lags. The item, if
	// any, is the last state known.
	Unknown Presence = iota
	// Present means that the object exists as far as is known.
	Present
	// Absent means that the object is not in the set the store watches. For a
	// store with a selector this proves nothing about the object: its label
	// may have been removed.
	Absent
)

// String returns the name of the constant.
func (p Presence) String() string {
	switch p {
	case Present:
		return "Present"
	case Absent:
		return "Absent"
	default:
		return "Unknown"
	}
}

// Event says what changed. Handlers look up, mark and return: they run on the
// goroutine of the watch, one event of a store at a time, and must not block.
type Event struct {
	// Key is the store's.
	Key Key
	// Namespace and Name are those of the object.
	Namespace, Name string
	// Object is the new state, or the last one known when Deleted. Shared: do
	// not modify it. The state before is not told: compare UIDs, since an
	// object that was replaced while the watch was cut arrives as one event.
	Object *unstructured.Unstructured
	// Deleted says that the object left the watched set.
	Deleted bool
	// Synced says that the store became synced, or that its error changed.
	// There is no object then.
	Synced bool
}

// record is what stores and reflectors hand each other: an item that is a
// metav1.Object through the embedded object.
type record struct {
	*unstructured.Unstructured
	fields Fields
}

func (r *record) item() Item {
	if r == nil {
		return Item{}
	}
	return Item{Object: r.Unstructured, Fields: r.fields}
}

func (r *record) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.GetNamespace(), Name: r.GetName()}
}
