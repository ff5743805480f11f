package observer

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Store is the cache of one watch. Get one from Observer.Acquire and Release
// it. Safe for concurrent use; no method waits for the API server.
type Store struct {
	key      Key
	observer *Observer
	scope    scope
	clock    clock.PassiveClock
	cancel   context.CancelFunc
	kick     chan struct{}
	kind     schema.GroupVersionKind // the reflector's goroutine alone uses it

	// Owned by the observer's mutex.
	users int
	spell uint64 // counts idle spells, so that a late timer is told apart
	idle  clock.Timer

	mu       sync.RWMutex
	views    map[types.NamespacedName]*view
	owners   *ownerIndex // nil until ByOwner was called
	graves   graveyard
	progress string // every event up to this version was seen
	synced   bool
	err      error
}

func newStore(k Key, o *Observer) *Store {
	s := &Store{
		key:      k,
		observer: o,
		clock:    o.clock,
		kick:     make(chan struct{}, 1),
		views:    map[types.NamespacedName]*view{},
		graves:   newGraveyard(),
	}
	var err error
	if s.scope, err = newScope(k); err != nil {
		s.err = &StoreError{Reason: InvalidSelector, Key: k, Err: err}
	}
	return s
}

func (s *Store) invalid() bool {
	return ReasonOf(s.err) == InvalidSelector
}

// Key returns the key the store was acquired by.
func (s *Store) Key() Key { return s.key }

// Release gives the store back. Its watch ends when it had no users for the
// observer's idle timeout. Release once per Acquire.
func (s *Store) Release() { s.observer.release(s) }

// Status reports whether the store holds what the API server had at some time
// since it was acquired, and the last list or watch error, a *StoreError, until
// a watch succeeds again. A store that lost its resource is not synced: it does
// not know that it is empty. With an error and synced, what is held may be old.
func (s *Store) Status() (synced bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.synced, s.err
}

// Get returns the view of one object, in O(1). The item may be set with
// Presence Unknown: then it is the last state known.
func (s *Store) Get(namespace, name string) (Item, Presence) {
	n := types.NamespacedName{Namespace: namespace, Name: name}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if v, ok := s.views[n]; ok {
		return v.item(), v.presence(s.synced, s.clock.Now())
	}
	if _, buried := s.graves.find(n); buried || s.synced {
		return Item{}, Absent
	}
	return Item{}, Unknown
}

// Observe records the response of a write or of a live read and returns the
// view, which is newer than the response if the watch was faster. u is not
// modified and may be used by the caller. Responses that the watch of this
// store would not deliver (another namespace, labels that do not match) and
// responses older than a known deletion are not kept; the item returned is then
// that of the response.
func (s *Store) Observe(u *unstructured.Unstructured) Item {
	r, err := s.observer.transform.record(u, schema.GroupVersionKind{}, s.key.Slim)
	if err != nil {
		return Item{Object: u}
	}
	n := r.key()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.scope.sees(n, r.GetLabels()) {
		s.leave(n, r)
		return r.item()
	}
	v := s.views[n]
	if s.hidden(n, r) || (v == nil && s.progress != "" && atMost(r.GetResourceVersion(), s.progress)) {
		return r.item()
	}
	next := v.fromResponse(r, s.clock.Now())
	s.put(n, v, next)
	return next.item()
}

// leave drops the view of an object that a response shows outside the watched
// set.
func (s *Store) leave(n types.NamespacedName, r *record) {
	if v := s.views[n]; v != nil && v.gone(r.GetUID(), r.GetResourceVersion()) {
		s.drop(n, tombstone{version: r.GetResourceVersion()})
	}
}

// ObserveDeleted records that an object is gone: the response to our DELETE
// said so, or a live read answered 404. uid is that of the object that is gone
// and rv the version of its deletion; both may be empty. A newer object of the
// same name stays.
func (s *Store) ObserveDeleted(namespace, name string, uid types.UID, rv string) {
	n := types.NamespacedName{Namespace: namespace, Name: name}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[n]
	if v != nil && uid != "" && uid != v.GetUID() && !(rv != "" && v.gone(uid, rv)) {
		s.graves.bury(n, tombstone{uid: uid, version: rv, at: s.clock.Now()})
		return
	}
	if v != nil && uid == "" {
		uid = v.GetUID()
	}
	s.drop(n, tombstone{uid: uid, version: rv})
}

// List returns all objects, sorted by namespace and name. O(n log n).
func (s *Store) List() []Item {
	s.mu.RLock()
	names := make([]types.NamespacedName, 0, len(s.views))
	for n := range s.views {
		names = append(names, n)
	}
	out := s.items(names)
	s.mu.RUnlock()
	return out
}

// ByOwner returns the objects with an ownerReference to uid, controller or not,
// sorted by namespace and name. The first call builds the index, in O(n); later
// ones cost what they return.
func (s *Store) ByOwner(uid types.UID) []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owners == nil {
		s.owners = newOwnerIndex()
		for n, v := range s.views {
			s.owners.add(n, v.record)
		}
	}
	return s.items(s.owners.names(uid))
}

// Len returns how many objects the store holds.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.views)
}

func (s *Store) items(names []types.NamespacedName) []Item {
	slices.SortFunc(names, compareNames)
	out := make([]Item, 0, len(names))
	for _, n := range names {
		out = append(out, s.views[n].item())
	}
	return out
}

func compareNames(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func (s *Store) hidden(n types.NamespacedName, r *record) bool {
	t, ok := s.graves.find(n)
	return ok && t.hides(r.GetUID(), r.GetResourceVersion())
}

// put replaces the view of n and keeps the index.
func (s *Store) put(n types.NamespacedName, old, next *view) {
	if s.owners != nil && (old == nil || old.record != next.record) {
		if old != nil {
			s.owners.remove(n, old.record)
		}
		s.owners.add(n, next.record)
	}
	s.views[n] = next
}

// drop removes the view of n and buries it.
func (s *Store) drop(n types.NamespacedName, t tombstone) {
	if v, ok := s.views[n]; ok {
		if s.owners != nil {
			s.owners.remove(n, v.record)
		}
		delete(s.views, n)
	}
	t.at = s.clock.Now()
	s.graves.bury(n, t)
}
