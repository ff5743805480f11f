package observer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Reason says why a store cannot list or watch.
type Reason string

const (
	// WatchForbidden means that the account may not list or watch the
	// resource.
	WatchForbidden Reason = "WatchForbidden"
	// NoSuchResource means that the API server does not serve the resource,
	// as after the deletion of its CRD.
	NoSuchResource Reason = "NoSuchResource"
	// WatchFailed is any other error.
	WatchFailed Reason = "WatchFailed"
	// InvalidSelector means that the key's selector does not parse. Such a
	// store never syncs.
	InvalidSelector Reason = "InvalidSelector"
)

// StoreError is the last list or watch error of a store.
type StoreError struct {
	Reason Reason
	Key    Key
	Err    error
}

// Error says what could not be watched, and why.
func (e *StoreError) Error() string {
	return fmt.Sprintf("cannot watch %s: %v", e.Key, e.Err)
}

// Unwrap returns the API server's error.
func (e *StoreError) Unwrap() error { return e.Err }

// ReasonOf returns the Reason of an error of Status; "" for nil.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*StoreError](err); ok {
		return e.Reason
	}
	if err != nil {
		return WatchFailed
	}
	return ""
}

func classify(k Key, err error) *StoreError {
	reason := WatchFailed
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		reason = WatchForbidden
	case apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		reason = NoSuchResource
	}
	return &StoreError{Reason: reason, Key: k, Err: err}
}

// fail records an error of the watch. Users are told when its reason changes,
// not at every retry.
func (s *Store) fail(err error) {
	e := classify(s.key, err)
	s.mu.Lock()
	changed := ReasonOf(s.err) != e.Reason
	s.err = e
	if e.Reason == NoSuchResource {
		s.lose()
	}
	s.mu.Unlock()
	if changed {
		s.observer.tell(Event{Key: s.key, Synced: true})
	}
}

// lose marks all that is known as old: a store that lost its resource does not
// know that it is empty, and what we wrote before does not vouch for it.
func (s *Store) lose() {
	s.synced = false
	for _, v := range s.views {
		v.pending = time.Time{}
	}
}

// recovered records that a watch is open, which ends the error.
func (s *Store) recovered() {
	s.mu.Lock()
	changed := s.err != nil
	s.err = nil
	s.mu.Unlock()
	if changed {
		s.observer.tell(Event{Key: s.key, Synced: true})
	}
}

func sortChanges(changes []change) {
	slices.SortFunc(changes, func(a, b change) int { return compareNames(a.name, b.name) })
}
