package bundle

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
)

const (
	// maxRows is how many resources are listed one by one; Bundles with more
	// list only those that are not ready.
	maxRows = 200
	// maxMessage is what one message may take, in bytes.
	maxMessage = 1 << 10
	// maxStatus is what a status may take, in bytes of JSON.
	maxStatus = 256 << 10
	// maxStored is what etcd takes in one request, less what metadata and
	// managedFields of a Bundle need.
	maxStored = 1536<<10 - 64<<10
)

// fill adds the rows that fit: errors before what is in progress before what
// is blocked, and shows them in the order of the spec. A quarter of the room
// is for objects to delete.
func (p *projection) fill(s *v1.BundleStatus) {
	room := min(maxStatus, maxStored-p.report.SpecSize) - sizeOf(s)
	s.ObjectsToDelete, room = p.objectsToDelete(room)
	before := p.before()
	var taken []listed
	for _, n := range p.candidates() {
		status := v1.ResourceStatus{Name: n.Name, Conditions: p.timed(n.conditions(), before[n.Name])}
		room -= sizeOf(status)
		if room < 0 {
			break
		}
		taken = append(taken, listed{n.index, status})
	}
	slices.SortFunc(taken, func(a, b listed) int { return cmp.Compare(a.index, b.index) })
	for _, l := range taken {
		s.ResourceStatuses = append(s.ResourceStatuses, l.status)
	}
}

// listed is a row that fits, and its place in the spec.
type listed struct {
	index  int
	status v1.ResourceStatus
}

// candidates are the rows that may be listed, most important first.
func (p *projection) candidates() []*row {
	all := len(p.nodes) <= maxRows
	out := make([]*row, 0, min(len(p.nodes), maxRows))
	for rank := range lastRank + 1 {
		for i := range p.nodes {
			n := &p.nodes[i]
			if n.rank() == rank && (all || rank < lastRank) && len(out) < maxRows {
				out = append(out, n)
			}
		}
	}
	return out
}

// lastRank is the rank of rows that need no attention.
const lastRank = 3

func (n *row) rank() int {
	switch {
	case n.unknown:
		return 2
	case n.State == graph.Error:
		return 0
	case n.State == graph.InProgress:
		return 1
	case n.State == graph.Blocked:
		return 2
	}
	return lastRank
}

// objectsToDelete are those that fit, sorted.
func (p *projection) objectsToDelete(room int) ([]v1.ObjectToDelete, int) {
	sorted := slices.SortedFunc(slices.Values(p.report.ToDelete), compareToDelete)
	share := room / 4
	for i := range sorted {
		size := sizeOf(sorted[i])
		if share < size {
			return sorted[:i:i], room
		}
		share, room = share-size, room-size
	}
	return sorted, room
}

func compareToDelete(a, b v1.ObjectToDelete) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version),
		strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name),
	)
}

// before indexes the rows of the previous status.
func (p *projection) before() map[string][]metav1.Condition {
	out := make(map[string][]metav1.Condition, len(p.prev.ResourceStatuses))
	for i := range p.prev.ResourceStatuses {
		out[p.prev.ResourceStatuses[i].Name] = p.prev.ResourceStatuses[i].Conditions
	}
	return out
}

// conditions are Blocked, InProgress, Ready and Error of a resource.
func (n *row) conditions() []metav1.Condition {
	if n.unknown {
		return n.unknownConditions()
	}
	state := n.State.String()
	blocked := condition(v1.ConditionBlocked, n.State == graph.Blocked, state, "")
	inProgress := condition(v1.ConditionInProgress, n.State == graph.InProgress, state, "")
	ready := condition(v1.ConditionReady, n.State == graph.Ready || n.State == graph.Excluded, state, "")
	failed := condition(v1.ConditionError, n.State == graph.Error, state, "")
	switch n.State {
	case graph.Blocked:
		blocked.Reason, blocked.Message = ReasonDependenciesNotReady, cut(n.blockedMessage())
	case graph.InProgress:
		inProgress.Reason, inProgress.Message = reasonOr(n.Reason, state), cut(n.Message)
	case graph.Ready, graph.Excluded:
		ready.Reason, ready.Message = reasonOr(n.Reason, state), cut(n.Message)
	case graph.Error:
		failed.Reason, failed.Message = ReasonTerminalError, cut(n.explained())
		if !n.Terminal {
			failed.Reason = ReasonRetriableError
			inProgress.Status, inProgress.Reason = metav1.ConditionTrue, ReasonRetriableError
		}
	}
	return []metav1.Condition{blocked, inProgress, ready, failed}
}

func (n *row) unknownConditions() []metav1.Condition {
	types := []string{v1.ConditionBlocked, v1.ConditionInProgress, v1.ConditionReady, v1.ConditionError}
	out := make([]metav1.Condition, len(types))
	for i, t := range types {
		out[i] = metav1.Condition{Type: t, Status: metav1.ConditionUnknown, Reason: ReasonUnknown}
	}
	return out
}

// blockedMessage names the needs in a stable order.
func (n *row) blockedMessage() string {
	names := make([]string, len(n.BlockedBy))
	for i, id := range n.BlockedBy {
		names[i] = string(id)
	}
	slices.Sort(names)
	return "Not ready: " + quotedList(names)
}

// quotedList prints ["a", "b"], and no more of it than a message holds.
func quotedList(names []string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > maxMessage {
			break
		}
		b.WriteString(strconv.Quote(excerptTo(name, 253)))
	}
	b.WriteByte(']')
	return b.String()
}

func condition(kind string, holds bool, reason, message string) metav1.Condition {
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: cut(message)}
}

// reasonOr gives a reason that the API server accepts.
func reasonOr(reason, otherwise string) string {
	if reason == "" || len(reason) > 128 {
		return otherwise
	}
	for i, c := range reason {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return otherwise
		}
	}
	return reason
}

// cut keeps a message within maxMessage bytes of valid UTF-8.
func cut(message string) string { return excerptTo(message, maxMessage) }

// sizeOf is the size in JSON; values of the API always encode.
func sizeOf(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return maxStatus
	}
	// One more for the comma.
	return len(data) + 1
}
