package resource

import (
	"hash/fnv"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Owner is the object a graph was compiled from: a Bundle, an instance of a
// Stack, an install, a claim. It is a snapshot; a new generation is a new Owner.
type Owner struct {
	UID        types.UID
	Kind       schema.GroupVersionKind
	Resource   string // plural
	Namespace  string // empty for cluster-scoped owners
	Name       string
	Generation int64
	// ServiceAccount of the owner's namespace that children are written as;
	// empty means the manager's own identity.
	ServiceAccount string
	// Manager is the value of ManagerLabel: ManagerCore or a Stack's UID.
	Manager string
	// Finalizer guards the owner until its children are gone.
	Finalizer string
	// Orphan says that the owner is being deleted with --cascade=orphan: its
	// children stay.
	Orphan bool
}

// Key returns the owner's namespace and name.
func (o *Owner) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// GroupKind returns the owner's kind as metrics label it, "Kind.group".
func (o *Owner) GroupKind() string { return o.Kind.GroupKind().String() }

// Slot spreads owners over Slots by a hash of their UID.
func (o *Owner) Slot() int { return SlotOf(o.UID) }

// SlotOf returns the slot of an owner's UID, 0 to Slots-1.
func SlotOf(uid types.UID) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(uid))
	return int(h.Sum32() % Slots)
}

// Labels returns the labels that every child of the owner carries.
func (o *Owner) Labels() map[string]string {
	return map[string]string{
		OwnerLabel:     string(o.UID),
		ManagerLabel:   o.Manager,
		SlotLabel:      strconv.Itoa(o.Slot()),
		ManagedByLabel: ManagedByTruss,
	}
}

// Reference returns the owner reference that children in the owner's
// namespace carry, as their controller or plain.
func (o *Owner) Reference(controller bool) metav1.OwnerReference {
	block := true
	ref := metav1.OwnerReference{
		APIVersion:         o.Kind.GroupVersion().String(),
		Kind:               o.Kind.Kind,
		Name:               o.Name,
		UID:                o.UID,
		BlockOwnerDeletion: &block,
	}
	if controller {
		ref.Controller = &controller
	}
	return ref
}
