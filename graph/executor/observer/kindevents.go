package observer

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	crdResource        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	apiServiceResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// handle takes the events of the two watches. Names of CRDs are
// <plural>.<group>, those of APIServices <version>.<group>.
func (k *Kinds) handle(e Event) {
	if e.Synced {
		return
	}
	switch e.Key {
	case k.crds.key:
		k.crdEvent(e)
	case k.apis.key:
		_, group, _ := strings.Cut(e.Name, ".")
		k.groupChanged(group)
	}
}

// crdEvent marks what is known as old. A CRD in use is read again by run, which
// tells whether anything about it changed; a status written by the API server
// is none.
func (k *Kinds) crdEvent(e Event) {
	_, group, _ := strings.Cut(e.Name, ".")
	k.mu.Lock()
	entry, used := k.entries[e.Name]
	if used {
		entry.stale = true
		k.dirty[e.Name] = struct{}{}
	}
	k.mu.Unlock()
	if used {
		k.signal()
	}
	if !used || e.Deleted {
		k.groupChanged(group)
	}
}

// groupChanged forgets the mappings of a group, lets its watches retry, and
// wakes those who wait for one of its kinds.
func (k *Kinds) groupChanged(group string) {
	k.cluster.InvalidateGroup(group)
	k.observer.KickGroup(group)
	k.mu.Lock()
	var woken []schema.GroupKind
	for gk := range k.waiting {
		if gk.Group == group {
			woken = append(woken, gk)
		}
	}
	k.mu.Unlock()
	slices.SortFunc(woken, func(a, b schema.GroupKind) int { return strings.Compare(a.Kind, b.Kind) })
	for _, gk := range woken {
		k.tell(gk)
	}
}

func (k *Kinds) tell(gk schema.GroupKind) {
	if k.onChange != nil {
		k.onChange(gk)
	}
}

func (k *Kinds) signal() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// run reads changed CRDs again until ctx is done.
func (k *Kinds) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		}
		for _, name := range k.takeDirty() {
			k.refresh(ctx, name)
		}
	}
}

func (k *Kinds) takeDirty() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	names := slices.Sorted(maps.Keys(k.dirty))
	clear(k.dirty)
	return names
}

// refresh reads one CRD again and tells of a change. When it cannot be read its
// kinds are told too: asking again then gives the error.
func (k *Kinds) refresh(ctx context.Context, name string) {
	k.mu.Lock()
	e, gk := k.entries[name], k.entries[name].asked
	k.mu.Unlock()
	e.mu.Lock()
	err := k.reload(ctx, name, e)
	unchanged := sameCRD(e.told, e.info)
	e.told = e.info
	e.mu.Unlock()
	if err == nil && unchanged {
		return
	}
	k.groupChanged(gk.Group)
	k.tell(gk)
}

// reload skips the read when somebody else did it, or when the event is the
// echo of what was read.
func (k *Kinds) reload(ctx context.Context, name string, e *kindEntry) error {
	item, presence := k.crds.Get("", name)
	if e.info != nil && presence == Present && item.Object.GetUID() == e.info.uid &&
		atMost(item.Object.GetResourceVersion(), e.info.version) {
		k.mu.Lock()
		e.stale = false
		k.mu.Unlock()
		return nil
	}
	return k.load(ctx, name, e)
}

func sameCRD(a, b *crdInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.digest == b.digest
}
