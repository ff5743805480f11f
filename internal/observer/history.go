package observer

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/readiness"
)

// history is everything that was seen. mu guards all of it.
type history struct {
	mu        sync.Mutex
	evaluator *readiness.Evaluator
	lives     map[key][]*life
	byUID     map[types.UID]*life
	records   map[types.UID][]*life // by owner
	owned     map[types.UID][]*life // by an owner in ownerReferences
	kinds     map[schema.GroupResource]*coverage
	requests  []*Request // in the order of the log
}

// coverage says what is known of one kind.
type coverage struct {
	version string   // that it is read in
	rules   ruleBook // nil for built-in kinds
	from    uint64   // the version of the first list, zero before it
	last    uint64   // the newest version seen
	// gap is the end of the last stretch of versions that the watch missed.
	gap   uint64
	alive map[types.UID]*life
}

func newHistory() *history {
	return &history{
		evaluator: readiness.NewEvaluator(),
		lives:     map[key][]*life{}, byUID: map[types.UID]*life{}, records: map[types.UID][]*life{},
		owned: map[types.UID][]*life{},
		kinds: map[schema.GroupResource]*coverage{},
	}
}

func (h *history) coverage(gr schema.GroupResource) *coverage {
	c, ok := h.kinds[gr]
	if !ok {
		c = &coverage{alive: map[types.UID]*life{}}
		h.kinds[gr] = c
	}
	return c
}

// see takes a version of an object. listed says that it comes from a list.
func (h *history) see(gvr schema.GroupVersionResource, u *unstructured.Unstructured, listed bool) {
	k := key{group: gvr.Group, resource: gvr.Resource, namespace: u.GetNamespace(), name: u.GetName()}
	c := h.coverage(gvr.GroupResource())
	l := h.byUID[u.GetUID()]
	if l == nil {
		l = &life{key: k, uid: u.GetUID(), kind: u.GroupVersionKind().GroupKind(), created: u.GetCreationTimestamp().UTC(), listed: listed}
		h.byUID[l.uid], c.alive[l.uid] = l, l
		h.lives[k] = append(h.lives[k], l)
	}
	v := h.facts(u, c)
	c.last = max(c.last, v.rv)
	if l.seen >= v.rv {
		return // a list repeats what the watch has shown
	}
	l.seen = v.rv
	l.insert(v)
	h.remember(l, u, v)
	if c.rules != nil {
		l.whole = u
	}
}

// remember keeps what belongs to the object and not to one version.
func (h *history) remember(l *life, u *unstructured.Unstructured, v version) {
	for _, ref := range u.GetOwnerReferences() {
		if _, known := l.refs[ref.UID]; known {
			continue
		}
		if l.refs == nil {
			l.refs = map[types.UID]uint64{}
		}
		l.refs[ref.UID] = v.rv
		h.owned[ref.UID] = append(h.owned[ref.UID], l)
	}
	if l.plan != nil || v.owner == "" || !isRecord(l.key) {
		return
	}
	if l.plan = readPlan(u); l.plan != nil {
		h.records[v.owner] = append(h.records[v.owner], l)
	}
}

func (h *history) facts(u *unstructured.Unstructured, c *coverage) version {
	annotations := u.GetAnnotations()
	v := version{
		rv: version64(u.GetResourceVersion()), generation: u.GetGeneration(),
		owner:       types.UID(u.GetLabels()[resource.OwnerLabel]),
		signed:      annotations[resource.AppliedAnnotation] != "",
		adopts:      annotations[resource.AdoptAnnotation],
		recreate:    annotations[resource.OnImmutableAnnotation] == "recreate",
		terminating: u.GetDeletionTimestamp() != nil,
	}
	if controller := metav1.GetControllerOfNoCopy(u); controller != nil {
		v.controller = controller.UID
	}
	v.active, v.planned = activity(u)
	v.ready, v.unruled = judged(h.evaluator, u, c.rules[c.version])
	return v
}

// lose takes the end of an object, at a version.
func (h *history) lose(gr schema.GroupResource, uid types.UID, rv uint64) {
	c := h.coverage(gr)
	c.last = max(c.last, rv)
	if l := h.byUID[uid]; l != nil && l.gone == 0 {
		l.gone, l.whole = rv, nil
		delete(c.alive, uid)
	}
}

// replace takes a whole list at a version: the first one begins the history of
// a kind, later ones say that its watch missed something.
func (h *history) replace(gvr schema.GroupVersionResource, items []*unstructured.Unstructured, rv uint64) {
	c := h.coverage(gvr.GroupResource())
	if c.from == 0 {
		c.from = rv
	} else {
		c.gap = rv
	}
	there := make(map[types.UID]bool, len(items))
	for _, u := range items {
		there[u.GetUID()] = true
		h.see(gvr, u, true)
	}
	for _, l := range c.alive {
		if !there[l.uid] {
			h.lose(gvr.GroupResource(), l.uid, rv)
		}
	}
	c.last = max(c.last, rv)
}

// rule takes the rules of a kind. What is there is judged by them from rv on.
func (h *history) rule(gr schema.GroupResource, version string, rules ruleBook, rv uint64) {
	c := h.coverage(gr)
	c.version, c.rules = version, rules
	for _, l := range c.alive {
		if l.whole == nil {
			continue
		}
		v := *l.newest()
		v.ready, v.unruled = judged(h.evaluator, l.whole, rules[version])
		v.rv = max(v.rv, rv)
		l.insert(v)
	}
}

// blind says that a kind may have had versions before rv that nobody saw.
func (h *history) blind(gr schema.GroupResource, rv uint64) bool {
	c := h.kinds[gr]
	return c == nil || c.from == 0 || c.from >= rv || c.gap != 0
}
