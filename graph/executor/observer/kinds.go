package observer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/readiness"
)

// unwatchedLife is how long what is known of a CRD is good while CRDs cannot be
// watched.
const unwatchedLife = 30 * time.Second

// KindInfo is what is known of one version of a kind.
type KindInfo struct {
	// Mapping has the resource and the scope.
	Mapping *meta.RESTMapping
	// Rules say when an instance is ready. Never nil.
	Rules *readiness.Rules
	// Builtin kinds are served without a CRD: by the API server itself or by
	// an aggregated one.
	Builtin bool
	// Terminating says that the CRD is being deleted: nothing can be created.
	Terminating bool
	// Established says that the CRD is served; true for built-in kinds.
	Established bool
}

// Scope returns whether instances live in namespaces.
func (i *KindInfo) Scope() meta.RESTScopeName { return i.Mapping.Scope.Name() }

// Kinds follows CRDs and APIServices, by metadata alone, and keeps the readiness
// rules of the kinds that are in use. A CRD is read when one of its kinds is
// asked for and when it changed since. Safe for concurrent use.
type Kinds struct {
	observer *Observer
	cluster  *cluster.Cluster
	onChange func(schema.GroupKind)
	crds     *Store
	apis     *Store

	mu      sync.Mutex
	entries map[string]*kindEntry // by CRD name
	waiting map[schema.GroupKind]struct{}
	dirty   map[string]struct{}
	wake    chan struct{}
}

// kindEntry is what is known under a CRD's name, the absence of a CRD included.
type kindEntry struct {
	asked schema.GroupKind // guarded by Kinds.mu

	mu     sync.Mutex // one request at a time
	loaded bool
	stale  bool // guarded by Kinds.mu
	at     time.Time
	info   *crdInfo // nil: there is no such CRD
	told   *crdInfo // what onChange was last called for
}

// NewKinds makes the registry; before the observer runs, with which it runs.
// onChange is called
// when the rules of a kind changed, and when a kind that was asked for may have
// come or gone. It must not block.
func NewKinds(o *Observer, onChange func(schema.GroupKind)) *Kinds {
	k := &Kinds{
		observer: o,
		cluster:  o.cluster,
		onChange: onChange,
		entries:  map[string]*kindEntry{},
		waiting:  map[schema.GroupKind]struct{}{},
		dirty:    map[string]struct{}{},
		wake:     make(chan struct{}, 1),
	}
	o.attach(k.handle, k.run)
	k.crds = o.Acquire(Key{Resource: crdResource, MetadataOnly: true, Slim: true})
	k.apis = o.Acquire(Key{Resource: apiServiceResource, MetadataOnly: true, Slim: true})
	return k
}

// Rules returns what is known of a kind. It costs map look-ups, and one or two
// requests when the kind is new or its CRD changed. An error that
// meta.IsNoMatchError recognises says that the kind is not served; any other
// that this could not be found out. onChange follows when that may have ended.
func (k *Kinds) Rules(ctx context.Context, gk schema.GroupKind, version string) (KindInfo, error) {
	k.wait(gk)
	mapping, err := k.cluster.Mapping(gk, version)
	if err != nil {
		return KindInfo{}, err
	}
	if !strings.Contains(gk.Group, ".") {
		k.found(gk)
		return builtin(mapping), nil
	}
	info, err := k.crd(ctx, mapping.Resource.GroupResource().String(), gk)
	if err != nil {
		return KindInfo{}, err
	}
	if info == nil {
		k.found(gk)
		return builtin(mapping), nil
	}
	rules, ok := info.rules[mapping.GroupVersionKind.Version]
	if !ok || info.kind != gk {
		return KindInfo{}, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: []string{version}}
	}
	if rules.err != nil {
		return KindInfo{}, rules.err
	}
	k.found(gk)
	return KindInfo{Mapping: mapping, Rules: rules.rules, Terminating: info.terminating, Established: info.established}, nil
}

func builtin(m *meta.RESTMapping) KindInfo {
	return KindInfo{Mapping: m, Rules: readiness.RulesForBuiltin(m.GroupVersionKind.GroupKind()), Builtin: true, Established: true}
}

func (k *Kinds) wait(gk schema.GroupKind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting[gk] = struct{}{}
}

func (k *Kinds) found(gk schema.GroupKind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.waiting, gk)
}

// crd returns what is known of a CRD, nil if there is none, and reads it where
// that is not known or old.
func (k *Kinds) crd(ctx context.Context, name string, gk schema.GroupKind) (*crdInfo, error) {
	e := k.entry(name, gk)
	e.mu.Lock()
	defer e.mu.Unlock()
	if k.fresh(e) {
		return e.info, nil
	}
	if err := k.load(ctx, name, e); err != nil {
		return nil, err
	}
	return e.info, nil
}

func (k *Kinds) entry(name string, gk schema.GroupKind) *kindEntry {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.entries[name]
	if !ok {
		e = &kindEntry{}
		k.entries[name] = e
	}
	e.asked = gk
	return e
}

// fresh says whether an entry can be used. Its mutex is held.
func (k *Kinds) fresh(e *kindEntry) bool {
	k.mu.Lock()
	stale := e.stale
	k.mu.Unlock()
	if !e.loaded || stale {
		return false
	}
	if _, err := k.crds.Status(); err != nil {
		return k.observer.clock.Since(e.at) < unwatchedLife
	}
	return true
}

// load reads a CRD live. Its entry's mutex is held.
func (k *Kinds) load(ctx context.Context, name string, e *kindEntry) error {
	k.mu.Lock()
	e.stale = false // an event during the read marks it again
	k.mu.Unlock()
	info, err := k.read(ctx, name)
	if err != nil {
		k.mu.Lock()
		e.stale = true
		k.mu.Unlock()
		return err
	}
	if !e.loaded {
		e.told = info
	}
	e.info, e.loaded, e.at = info, true, k.observer.clock.Now()
	return nil
}

func (k *Kinds) read(ctx context.Context, name string) (*crdInfo, error) {
	client, err := k.cluster.Client(cluster.Account{})
	if err != nil {
		return nil, err
	}
	crd, err := client.Dynamic.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read CRD %q: %w", name, err)
	}
	return readCRD(crd)
}
