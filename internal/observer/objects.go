package observer

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// key is where an object is, whatever version it is read in.
type key struct{ group, resource, namespace, name string }

func (k key) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.group, Resource: k.resource}
}

// place is the key without its kind.
func (k key) place() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}

// String names the object for people.
func (k key) String() string { return k.groupResource().String() + " " + k.place() }

// life is one object from its creation to its end: what comes under the same
// name later is another one.
type life struct {
	key     key
	uid     types.UID
	kind    schema.GroupKind
	created time.Time // in seconds
	// listed says that it was there before it was watched.
	listed   bool
	versions []version // in the order of their resourceVersions
	seen     uint64    // the newest version that was watched or listed
	gone     uint64    // when it was removed, zero while it is there
	// refs are the owners it ever named, with the version that did so first.
	refs map[types.UID]uint64
	// plan is what an inventory record lists; nil for all other objects.
	plan *plan
	// whole is the newest version itself, kept only for kinds whose rules may
	// change.
	whole *unstructured.Unstructured
}

// version is what is kept of one version of an object.
type version struct {
	rv         uint64
	generation int64
	// owner is the owner label; signed says that an applied annotation came
	// with it.
	owner      types.UID
	signed     bool
	controller types.UID
	adopts     string // how the author wants it adopted
	recreate   bool   // the author lets it be replaced
	// terminating, and ready as package readiness judges it; unruled says that
	// no rule speaks of its kind.
	terminating, ready, unruled bool
	// active and planned describe an inventory record: it still counts, for
	// this generation of its owner.
	active  bool
	planned int64
}

// born is the version that made it, or the first one seen.
func (l *life) born() uint64 { return l.versions[0].rv }

// ending is the version that began its end, zero while none did.
func (l *life) ending() uint64 {
	for i := range l.versions {
		if l.versions[i].terminating {
			return l.versions[i].rv
		}
	}
	return l.gone
}

// before is the newest version older than rv; nil when there is none.
func (l *life) before(rv uint64) *version {
	for i := len(l.versions) - 1; i >= 0; i-- {
		if l.versions[i].rv < rv {
			return &l.versions[i]
		}
	}
	return nil
}

// at says whether the object was there just before rv.
func (l *life) at(rv uint64) bool { return l.born() < rv && (l.gone == 0 || l.gone >= rv) }

// insert keeps the order: new rules make versions of their own, which may be
// newer than a version that arrives late.
func (l *life) insert(v version) {
	i := len(l.versions)
	for i > 0 && l.versions[i-1].rv > v.rv {
		i--
	}
	l.versions = slices.Insert(l.versions, i, v)
}

func (l *life) newest() *version { return &l.versions[len(l.versions)-1] }
