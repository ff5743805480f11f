package trace

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
)

// Of returns the trace of a Bundle: p is the plan of its spec, live what is
// known of its objects (nil for nothing). None of them is modified. O(V+E).
func Of(b *v1.Bundle, p *Plan, live Live) *Trace {
	t := &Trace{
		Kind: v1.BundleKind, Namespace: b.Namespace, Name: b.Name,
		Message:    b.Status.Message,
		Generation: b.Generation,
		Stale:      b.Status.ObservedGeneration != b.Generation,
		Problems:   p.problems,
	}
	t.judge(b)
	if b.DeletionTimestamp != nil {
		t.observeDeletion(b, p, live)
	} else {
		t.observeNodes(b, p, live)
	}
	t.observeRemovals(b, p, live)
	t.count(b)
	return t
}

// judge reads the state of the Bundle as a whole.
func (t *Trace) judge(b *v1.Bundle) {
	holds := func(kind string) bool { return meta.IsStatusConditionTrue(b.Status.Conditions, kind) }
	switch {
	case b.DeletionTimestamp != nil:
		t.State = Deleting
	case len(b.Status.Conditions) == 0:
		t.State = Unknown
	case holds(v1.ConditionError):
		t.State = Error
		t.Retrying = meta.FindStatusCondition(b.Status.Conditions, v1.ConditionError).Reason == bundle.ReasonRetriableError
	case holds(v1.ConditionReady) && !t.Stale:
		t.State = Ready
	default:
		t.State = InProgress
	}
	if t.State == Unknown && t.Message == "" {
		t.Message = "no manager has looked at it yet"
	}
}

// count fills Done and Total.
func (t *Trace) count(b *v1.Bundle) {
	if t.State == Deleting {
		t.Done, t.Total = deletionProgress(&b.Status)
		return
	}
	t.Total = max(int(b.Status.Summary.Total), len(b.Spec.Resources))
	t.Done = int(b.Status.Summary.Ready)
	if t.Stale && int(b.Status.Summary.Total) != t.Total {
		t.Total = len(b.Spec.Resources)
		t.Done = min(t.Done, t.Total)
	}
}

// deletionProgress is "gone/total" in numbers; 0, 0 before the first report.
func deletionProgress(s *v1.BundleStatus) (gone, total int) {
	c := meta.FindStatusCondition(s.Conditions, v1.ConditionInProgress)
	if c == nil || c.Reason != bundle.ReasonDeleting {
		return 0, 0
	}
	done, all, _ := strings.Cut(s.Progress, "/")
	gone, err := strconv.Atoi(done)
	if err != nil {
		return 0, 0
	}
	total, err = strconv.Atoi(all)
	if err != nil {
		return 0, 0
	}
	return gone, total
}

func (t *Trace) observeNodes(b *v1.Bundle, p *Plan, live Live) {
	states := standings(p, &b.Status)
	t.Nodes = make([]Node, len(p.nodes))
	for i := range p.nodes {
		s := &states[i]
		t.Nodes[i] = p.node(i)
		n := &t.Nodes[i]
		n.State, n.Retrying, n.Reason, n.Message = s.state, s.retrying, s.reason, s.message
		n.Child, _, _ = live.find(n.Object)
		if s.state != Blocked {
			continue
		}
		for _, need := range p.nodes[i].needs {
			if !states[need.index].state.settled() {
				n.BlockedBy = append(n.BlockedBy, p.nodes[need.index].name)
			}
		}
	}
}

// node returns what the plan knows of a resource.
func (p *Plan) node(i int) Node {
	from := &p.nodes[i]
	n := Node{Name: from.name, Object: from.object, Level: from.level, Critical: from.critical}
	for _, need := range from.needs {
		n.Needs = append(n.Needs, Need{Name: p.nodes[need.index].name, Reason: need.reason})
	}
	return n
}

// observeDeletion lists the resources in the order in which they go: each
// after those that need it.
func (t *Trace) observeDeletion(b *v1.Bundle, p *Plan, live Live) {
	states := deletionStates(b, p, live)
	blockers := make([][]string, len(p.nodes))
	t.Nodes = make([]Node, 0, len(p.nodes))
	for i, from := range slices.Backward(p.nodes) {
		n := p.node(i)
		n.State, n.BlockedBy = states[i], blockers[i]
		n.Child, _, _ = live.find(n.Object)
		if states[i] == Gone {
			n.BlockedBy = nil
		}
		t.Nodes = append(t.Nodes, n)
		for _, need := range from.needs {
			if states[i] != Gone {
				blockers[need.index] = append(blockers[need.index], n.Name)
			}
		}
	}
}

// deletionStates says which objects are there. A kind that was listed is
// known; of others the status lists what is left, as far as it has room.
func deletionStates(b *v1.Bundle, p *Plan, live Live) []State {
	left := map[Object]bool{}
	for _, o := range b.Status.ObjectsToDelete {
		left[Object{Group: o.Group, Kind: o.Kind, Name: o.Name}] = true
	}
	gone, total := deletionProgress(&b.Status)
	complete := total > 0 && len(b.Status.ObjectsToDelete) >= total-gone
	out := make([]State, len(p.nodes))
	for i := range p.nodes {
		o := p.nodes[i].object
		child, exists, known := live.find(o)
		switch {
		case known && !exists:
			out[i] = Gone
		case known && child.Deleted != nil:
			out[i] = Deleting
		case known || left[Object{Group: o.Group, Kind: o.Kind, Name: o.Name}]:
			out[i] = Waiting
		case complete:
			out[i] = Gone
		default:
			out[i] = Unknown
		}
	}
	return out
}

// observeRemovals lists the objects that are no resources of the spec.
func (t *Trace) observeRemovals(b *v1.Bundle, p *Plan, live Live) {
	planned := make(map[Object]bool, len(p.nodes))
	for i := range p.nodes {
		o := p.nodes[i].object
		planned[Object{Group: o.Group, Kind: o.Kind, Name: o.Name}] = true
	}
	for _, o := range b.Status.ObjectsToDelete {
		if planned[Object{Group: o.Group, Kind: o.Kind, Name: o.Name}] {
			continue
		}
		r := Removal{
			Object: Object{Group: o.Group, Version: o.Version, Kind: o.Kind, Namespace: b.Namespace, Name: o.Name},
			State:  Waiting,
		}
		child, exists, known := live.find(r.Object)
		r.Child = child
		switch {
		case known && !exists:
			r.State = Gone
		case child.Deleted != nil:
			r.State = Deleting
		}
		t.ToDelete = append(t.ToDelete, r)
	}
}

// ChildOf reads what a trace shows of an object's metadata.
func ChildOf(m *metav1.ObjectMeta) Child {
	created := m.CreationTimestamp.Time
	c := Child{Created: &created}
	if m.DeletionTimestamp != nil {
		deleted := m.DeletionTimestamp.Time
		c.Deleted, c.Finalizers = &deleted, m.Finalizers
	}
	return c
}
