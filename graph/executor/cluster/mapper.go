package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

const (
	discoveryTimeout  = 10 * time.Second
	discoveryPatience = 2 * time.Second
	missBackoffInit   = 50 * time.Millisecond
	missBackoffMax    = 5 * time.Second
)

// ErrDiscoveryPending says that discovery of a group version takes long. Nothing
// follows about its kinds; ask again.
var ErrDiscoveryPending = errors.New("discovery is still under way")

// discoverer is the part of client-go's discovery client that the mapper uses.
type discoverer interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
	ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error)
}

// mapper answers from what discovery said about single group versions. An
// entry lives until its group is invalidated. A miss (a group version or a kind
// that is not served) is asked for again at most once per invalidation and per
// backoff; the callers in between get the remembered answer.
type mapper struct {
	disco    discoverer
	clock    clock.PassiveClock
	patience time.Duration

	mu      sync.Mutex
	entries map[schema.GroupVersion]*entry
	groups  *groupsEntry
}

// entry is what is known of one group version. Concurrent callers share one
// request, the flight.
type entry struct {
	mu       sync.Mutex
	flight   chan struct{} // closed when the request is answered; nil without one
	departed time.Time
	loaded   bool
	err      error
	kinds    map[string]*meta.RESTMapping // nil when not served
	retryAt  time.Time
	interval time.Duration
}

func newMapper(d discoverer, c clock.PassiveClock) *mapper {
	return &mapper{
		disco:    d,
		clock:    c,
		patience: discoveryPatience,
		entries:  map[schema.GroupVersion]*entry{},
	}
}

// Mapping returns plural, scope and version of a kind. An empty version means
// the one the group prefers. The first call for a group version asks discovery
// (one request); later ones cost a map look-up.
//
// A kind or version that is not served is an error that meta.IsNoMatchError
// recognises. Any other error means that discovery could not tell: nothing
// follows about the kind.
func (c *Cluster) Mapping(gk schema.GroupKind, version string) (*meta.RESTMapping, error) {
	if version == "" {
		preferred, err := c.mapper.preferred(gk)
		if err != nil {
			return nil, err
		}
		version = preferred
	}
	return c.mapper.mapping(gk, version)
}

// InvalidateMappings drops all that was learned from discovery, remembered
// misses included.
func (c *Cluster) InvalidateMappings() {
	c.mapper.invalidateAll()
}

// InvalidateGroup drops what was learned about one API group. The observer
// calls it on CRD and APIService events.
func (c *Cluster) InvalidateGroup(group string) {
	c.mapper.invalidate(group)
}

// KindFor returns the kind of a resource if a mapping of its group version was
// asked for before. It sends nothing.
func (c *Cluster) KindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, bool) {
	return c.mapper.kindFor(r)
}

func (m *mapper) mapping(gk schema.GroupKind, version string) (*meta.RESTMapping, error) {
	gv := schema.GroupVersion{Group: gk.Group, Version: version}
	kinds, err := m.kinds(gv, gk.Kind)
	if err != nil {
		return nil, fmt.Errorf("cannot discover the resources of %q: %w", gv, err)
	}
	if found, ok := kinds[gk.Kind]; ok {
		return found, nil
	}
	return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: []string{version}}
}

// kinds returns the kinds of a group version and asks discovery where kind is
// not among them and the backoff allows it. Callers wait for the answer, but not
// longer than patience: an API service that hangs may not hold up the workers.
func (m *mapper) kinds(gv schema.GroupVersion, kind string) (map[string]*meta.RESTMapping, error) {
	e := m.entry(gv)
	e.mu.Lock()
	_, known := e.kinds[kind]
	if known || (e.flight == nil && e.loaded && m.clock.Now().Before(e.retryAt)) {
		defer e.mu.Unlock()
		return e.kinds, e.errFor(known)
	}
	if e.flight == nil {
		e.flight, e.departed = make(chan struct{}), time.Now()
		go m.ask(e, e.flight, gv, kind)
	}
	flight, left := e.flight, m.patience-time.Since(e.departed)
	e.mu.Unlock()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-flight:
	case <-timer.C:
		return nil, ErrDiscoveryPending
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, known = e.kinds[kind]
	return e.kinds, e.errFor(known)
}

// errFor returns the last error unless the kind is known without it.
func (e *entry) errFor(known bool) error {
	if known {
		return nil
	}
	return e.err
}

// ask makes one request and lets the callers go.
func (m *mapper) ask(e *entry, flight chan struct{}, gv schema.GroupVersion, kind string) {
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	found, err := m.fetch(ctx, gv)
	e.mu.Lock()
	e.store(found, err, kind, m.clock.Now())
	e.flight = nil
	e.mu.Unlock()
	close(flight)
}

// store records an answer. A failed request leaves the kinds that are known.
func (e *entry) store(found map[string]*meta.RESTMapping, err error, kind string, now time.Time) {
	e.loaded, e.err = true, err
	if err == nil {
		e.kinds = found
	}
	if _, ok := e.kinds[kind]; ok {
		e.interval = 0
		return
	}
	e.interval = min(max(2*e.interval, missBackoffInit), missBackoffMax)
	e.retryAt = now.Add(e.interval)
}

// fetch asks discovery for one group version. A group version that is not
// served gives no kinds and no error.
func (m *mapper) fetch(ctx context.Context, gv schema.GroupVersion) (map[string]*meta.RESTMapping, error) {
	list, err := m.disco.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kinds := make(map[string]*meta.RESTMapping, len(list.APIResources))
	for i := range list.APIResources {
		addKind(kinds, gv, &list.APIResources[i])
	}
	return kinds, nil
}

// addKind adds one resource. Subresources are left out, and what can only be
// posted, such as bindings and access reviews: nobody could see it or tell that
// it is gone. Of two resources of one kind the first stays.
func addKind(kinds map[string]*meta.RESTMapping, gv schema.GroupVersion, r *metav1.APIResource) {
	for i := range r.Name {
		if r.Name[i] == '/' {
			return
		}
	}
	if _, ok := kinds[r.Kind]; ok || !slices.Contains(r.Verbs, "get") {
		return
	}
	scope := meta.RESTScopeNamespace
	if !r.Namespaced {
		scope = meta.RESTScopeRoot
	}
	kinds[r.Kind] = &meta.RESTMapping{
		Resource:         gv.WithResource(r.Name),
		GroupVersionKind: gv.WithKind(r.Kind),
		Scope:            scope,
	}
}

func (m *mapper) entry(gv schema.GroupVersion) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[gv]
	if !ok {
		e = &entry{}
		m.entries[gv] = e
	}
	return e
}

// invalidateAll and invalidate replace entries instead of clearing them: a
// request that is under way fills an entry nobody looks at any more.
func (m *mapper) invalidateAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.entries)
	m.groups = nil
}

func (m *mapper) invalidate(group string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for gv := range m.entries {
		if gv.Group == group {
			delete(m.entries, gv)
		}
	}
	m.groups = nil
}

func (m *mapper) kindFor(r schema.GroupVersionResource) (schema.GroupVersionKind, bool) {
	m.mu.Lock()
	e, ok := m.entries[r.GroupVersion()]
	m.mu.Unlock()
	if !ok {
		return schema.GroupVersionKind{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range e.kinds {
		if k.Resource == r {
			return k.GroupVersionKind, true
		}
	}
	return schema.GroupVersionKind{}, false
}
