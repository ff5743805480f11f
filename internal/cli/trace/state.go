package trace

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
)

// A State is where a Bundle or one of its resources stands: a word of
// graph.State or, of what is being deleted, one of its own.
type State string

// The states.
const (
	// Unknown is what the status does not tell.
	Unknown State = "Unknown"
	// Blocked resources wait for others to be Ready.
	Blocked State = "Blocked"
	// InProgress is being created or awaited.
	InProgress State = "InProgress"
	// Ready is as it should be.
	Ready State = "Ready"
	// Error has failed.
	Error State = "Error"
	// Excluded resources turned out not to be wanted; that holds nothing up.
	Excluded State = "Excluded"
	// Waiting objects are deleted once those that need them are gone.
	Waiting State = "Waiting"
	// Deleting is being deleted.
	Deleting State = "Deleting"
	// Gone objects are deleted.
	Gone State = "Gone"
)

// settled reports whether nothing is left to be done or awaited.
func (s State) settled() bool { return s == Ready || s == Excluded || s == Gone }

// deletion reports whether the trace is about objects that go.
func (t *Trace) deletion() bool { return t.State == Deleting || t.State == Gone }

// rank orders states by how much they explain: causes before consequences,
// what is settled last.
func (s State) rank() int {
	switch s {
	case Error:
		return 0
	case InProgress, Deleting:
		return 1
	case Blocked, Waiting, Unknown:
		return 2
	default:
		return lastRank
	}
}

// lastRank is the rank of settled states.
const lastRank = 3

// standing is what the status says of one resource.
type standing struct {
	state    State
	retrying bool
	reason   string
	message  string
	since    metav1.Time
}

// ofConditions reads the four conditions of a resource. Excluded is Ready with
// its name as the reason of what does not hold.
func ofConditions(conditions []metav1.Condition) standing {
	for _, s := range []State{Error, Blocked, InProgress, Ready} {
		c := meta.FindStatusCondition(conditions, string(s))
		if c == nil || c.Status != metav1.ConditionTrue {
			continue
		}
		out := standing{state: s, reason: c.Reason, message: c.Message, since: c.LastTransitionTime}
		out.retrying = s == Error && c.Reason == bundle.ReasonRetriableError
		excluded := func(c metav1.Condition) bool { return c.Reason == graph.Excluded.String() }
		if s == Ready && slices.ContainsFunc(conditions, excluded) {
			out.state = Excluded
		}
		return out
	}
	return standing{state: Unknown}
}

// standings returns the state of each node of the plan.
//
// Rows are left out of long statuses: Ready ones first, then Blocked ones,
// then InProgress ones. What is not listed is therefore Ready if all that is
// not Ready is listed; else it is Blocked if one of its needs is not Ready,
// and Ready if at least all that is in Error or InProgress is listed. O(V+E).
func standings(p *Plan, s *v1.BundleStatus) []standing {
	out := make([]standing, len(p.nodes))
	listed := make(map[string]standing, len(s.ResourceStatuses))
	counts := map[State]int{}
	for i := range s.ResourceStatuses {
		r := &s.ResourceStatuses[i]
		listed[r.Name] = ofConditions(r.Conditions)
		counts[listed[r.Name].state]++
	}
	otherwise := Unknown
	if int(s.Summary.Total) == len(p.nodes) {
		otherwise = unlisted(s, counts)
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		if known, ok := listed[n.name]; ok {
			out[i] = known
			continue
		}
		out[i] = standing{state: otherwise}
		if p.blockedIn(i, out) {
			out[i].state = Blocked
		}
	}
	return out
}

// unlisted returns the state of resources without a row and with all needs
// Ready.
func unlisted(s *v1.BundleStatus, listed map[State]int) State {
	complete := len(s.Conditions) > 0 &&
		int(s.Summary.Error) <= listed[Error] && int(s.Summary.InProgress) <= listed[InProgress]
	if complete && listed[Unknown] == 0 {
		return Ready
	}
	return Unknown
}

// blockedIn reports whether a need of node i is known not to be Ready; states holds those
// of all nodes before i.
func (p *Plan) blockedIn(i int, states []standing) bool {
	return slices.ContainsFunc(p.nodes[i].needs, func(n need) bool {
		s := Unknown
		if n.index < i {
			s = states[n.index].state
		}
		return s != Unknown && !s.settled()
	})
}
