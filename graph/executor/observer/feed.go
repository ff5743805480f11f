package observer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// feed is the side of a store that its reflector writes to. Its methods are
// called by one goroutine, in the order of the watch.
type feed struct {
	s *Store
}

var _ cache.TransformingStore = feed{}
var _ cache.ReflectorBookmarkStore = feed{}

// Transformer implements cache.TransformingStore: the initial objects of a
// streamed list are cut down as they arrive.
func (f feed) Transformer() cache.TransformFunc {
	return func(v any) (any, error) { return f.record(v) }
}

func (f feed) record(v any) (*record, error) {
	if f.s.key.MetadataOnly && f.s.kind.Kind == "" {
		f.s.kind = f.s.observer.kindOf(f.s.key.Resource)
	}
	return f.s.observer.transform.record(v, f.s.kind, f.s.key.Slim)
}

// Add implements cache.ReflectorStore.
func (f feed) Add(v any) error { return f.Update(v) }

// Update implements cache.ReflectorStore.
func (f feed) Update(v any) error {
	r, err := f.record(v)
	if err != nil {
		return err
	}
	s := f.s
	s.mu.Lock()
	s.advance(r.GetResourceVersion())
	changed := s.upsert(r)
	s.mu.Unlock()
	if changed {
		f.tell(r.key(), r, false)
	}
	return nil
}

// Delete implements cache.ReflectorStore. The version of a DELETED event is
// that of the deletion, or of the change that took the object out of the
// selector.
func (f feed) Delete(v any) error {
	r, err := f.record(v)
	if err != nil {
		return err
	}
	s, n, d := f.s, r.key(), r.GetResourceVersion()
	s.mu.Lock()
	s.advance(d)
	known := s.views[n]
	gone := known == nil || known.gone(r.GetUID(), d)
	if gone {
		s.drop(n, tombstone{version: d})
	}
	s.mu.Unlock()
	if gone && known != nil {
		f.tell(n, r, true)
	}
	return nil
}

// Replace implements cache.ReflectorStore: list is all there is at version.
// What is absent from it is gone unless our own response is newer.
func (f feed) Replace(list []any, version string) error {
	records := make(map[types.NamespacedName]*record, len(list))
	for _, v := range list {
		r, err := f.record(v)
		if err != nil {
			return fmt.Errorf("cannot take over a list of %s: %w", f.s.key, err)
		}
		records[r.key()] = r
	}
	events, first := f.s.replace(records, version)
	for _, e := range events {
		f.tell(e.name, e.record, e.deleted)
	}
	if first {
		f.s.observer.tell(Event{Key: f.s.key, Synced: true})
	}
	return nil
}

// Resync implements cache.ReflectorStore; there is nothing to repeat.
func (f feed) Resync() error { return nil }

// Bookmark implements cache.ReflectorBookmarkStore.
func (f feed) Bookmark(version string) error {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.s.advance(version)
	return nil
}

func (f feed) tell(n types.NamespacedName, r *record, deleted bool) {
	f.s.observer.tell(Event{
		Key:       f.s.key,
		Namespace: n.Namespace,
		Name:      n.Name,
		Object:    r.Unstructured,
		Deleted:   deleted,
	})
}

// advance notes that the watch has reached a version.
func (s *Store) advance(version string) {
	s.progress = version
}

// upsert joins an event with the view and reports whether it changed.
func (s *Store) upsert(r *record) bool {
	n := r.key()
	if s.hidden(n, r) {
		return false
	}
	old := s.views[n]
	next, changed := old.fromEvent(r)
	s.graves.raise(n)
	s.put(n, old, next)
	return changed
}

type change struct {
	name    types.NamespacedName
	record  *record
	deleted bool
}

// replace takes over a list and returns what changed, sorted, and whether the
// store became synced by it.
func (s *Store) replace(records map[types.NamespacedName]*record, version string) (changes []change, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, r := range records {
		if s.upsert(r) {
			changes = append(changes, change{name: n, record: r})
		}
	}
	for n, v := range s.views {
		if _, listed := records[n]; listed {
			continue
		}
		if s.outlives(v, version) {
			continue
		}
		s.drop(n, tombstone{version: version})
		changes = append(changes, change{name: n, record: v.record, deleted: true})
	}
	sortChanges(changes)
	s.advance(version)
	first = !s.synced
	s.synced = true
	return changes, first
}

// outlives says whether a view that a list at version does not have is kept:
// only our own response that is newer, or whose version does not compare.
func (s *Store) outlives(v *view, version string) bool {
	if v.pending.IsZero() {
		return false
	}
	o := compare(v.GetResourceVersion(), version)
	if o == unordered {
		v.unsure = true
	}
	return o == newer || o == unordered
}
