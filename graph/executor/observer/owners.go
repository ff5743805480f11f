package observer

import (
	"k8s.io/apimachinery/pkg/types"
)

// ownerIndex finds objects by the UIDs in their ownerReferences.
type ownerIndex struct {
	byUID map[types.UID]map[types.NamespacedName]struct{}
}

func newOwnerIndex() *ownerIndex {
	return &ownerIndex{byUID: map[types.UID]map[types.NamespacedName]struct{}{}}
}

func (x *ownerIndex) add(n types.NamespacedName, r *record) {
	for _, uid := range ownerUIDs(r) {
		names, ok := x.byUID[uid]
		if !ok {
			names = map[types.NamespacedName]struct{}{}
			x.byUID[uid] = names
		}
		names[n] = struct{}{}
	}
}

func (x *ownerIndex) remove(n types.NamespacedName, r *record) {
	for _, uid := range ownerUIDs(r) {
		delete(x.byUID[uid], n)
		if len(x.byUID[uid]) == 0 {
			delete(x.byUID, uid)
		}
	}
}

func (x *ownerIndex) names(uid types.UID) []types.NamespacedName {
	names := make([]types.NamespacedName, 0, len(x.byUID[uid]))
	for n := range x.byUID[uid] {
		names = append(names, n)
	}
	return names
}

func ownerUIDs(r *record) []types.UID {
	refs := r.GetOwnerReferences()
	uids := make([]types.UID, 0, len(refs))
	for i := range refs {
		uids = append(uids, refs[i].UID)
	}
	return uids
}
