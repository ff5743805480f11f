package bundle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
)

// Status projects a report onto the API, after Smith's state machine: a
// resource is Blocked, InProgress, Ready or in Error; the Bundle is Ready when
// all are, in Error when one is, else InProgress. A retriable error is
// InProgress, too.
//
// A condition keeps its lastTransitionTime from prev (nil for none) until its
// status changes. The same report and prev give the same status, so that a
// caller can compare before it writes. Status stays below 256 KiB and leaves
// the spec its room in one etcd request: messages are cut to 1 KiB, rows are
// dropped. O(resources).
func Status(prev *v1.BundleStatus, r Report, now time.Time) v1.BundleStatus {
	if prev == nil {
		prev = &v1.BundleStatus{}
	}
	p := &projection{report: &r, prev: prev, now: metav1.NewTime(now.Truncate(time.Second))}
	p.judge()
	s := v1.BundleStatus{
		ObservedGeneration: r.Observed,
		Conditions:         p.conditions(),
		Message:            cut(p.message()),
		Progress:           strconv.Itoa(p.counts.Ready+p.counts.Excluded) + "/" + strconv.Itoa(p.counts.Total),
		Summary: v1.Summary{
			Total:      int32(p.counts.Total),
			Ready:      int32(p.counts.Ready + p.counts.Excluded),
			InProgress: int32(p.counts.InProgress),
			Blocked:    int32(p.counts.Blocked),
			Error:      int32(p.counts.Error),
		},
	}
	p.fill(&s)
	return s
}

// projection is one call of Status.
type projection struct {
	report *Report
	prev   *v1.BundleStatus
	now    metav1.Time
	// nodes are the rows to report, compile errors included.
	nodes  []row
	counts graph.Counts
	// terminal and retriable are the rows in Error.
	terminal, retriable []*row
	// active is the first row in InProgress.
	active *row
}

// row is a resource on its way into the status.
type row struct {
	*NodeReport
	index int
	// unknown says that the Bundle is wrong and the resource has no state.
	unknown bool
}

// judge counts the states. A Bundle that did not compile has none, but for
// the resources whose own mistakes are all that is wrong.
func (p *projection) judge() {
	p.nodes = make([]row, len(p.report.Nodes))
	p.counts.Total = len(p.nodes)
	for i := range p.report.Nodes {
		p.nodes[i] = row{NodeReport: &p.report.Nodes[i], index: i}
	}
	if p.report.Failed != nil {
		p.blame()
	}
	for i := range p.nodes {
		p.count(&p.nodes[i])
	}
}

func (p *projection) blame() {
	byNode, ok := mistakes(p.report.Failed)
	for i := range p.nodes {
		n := &p.nodes[i]
		mistake := byNode[n.Name]
		if !ok || mistake == nil {
			n.unknown = true
			continue
		}
		n.NodeReport = &NodeReport{
			Name: n.Name, State: graph.Error, Terminal: true, Reason: mistake.Reason,
			Message: strings.TrimPrefix(mistake.Field+": "+mistake.Message, ": "),
		}
	}
}

func (p *projection) count(n *row) {
	if n.unknown {
		return
	}
	switch n.State {
	case graph.Ready:
		p.counts.Ready++
	case graph.Excluded:
		p.counts.Excluded++
	case graph.Blocked:
		p.counts.Blocked++
	case graph.InProgress:
		p.counts.InProgress++
		if p.active == nil {
			p.active = n
		}
	case graph.Error:
		p.counts.Error++
		if n.Terminal {
			p.terminal = append(p.terminal, n)
		} else {
			p.retriable = append(p.retriable, n)
		}
	}
}

// conditions are the Bundle's InProgress, Ready and Error, in this order, and
// those of the report.
func (p *projection) conditions() []metav1.Condition {
	failed := p.report.Failed != nil || p.counts.Error > 0
	ready := !failed && p.counts.Done()
	inProgress := len(p.retriable) > 0 && p.report.Failed == nil || !failed && !ready
	state, message := graph.InProgress.String(), p.message()
	switch {
	case ready:
		state, message = graph.Ready.String(), ""
	case failed:
		state = graph.Error.String()
	}
	errorReason, errorMessage := state, ""
	if failed {
		errorReason, errorMessage = p.errorReason()
	}
	out := []metav1.Condition{
		condition(v1.ConditionInProgress, inProgress, state, ""),
		condition(v1.ConditionReady, ready, state, message),
		condition(v1.ConditionError, failed, errorReason, errorMessage),
	}
	for _, extra := range p.report.Conditions {
		extra.Message = cut(extra.Message)
		if meta.FindStatusCondition(out, extra.Type) == nil {
			out = append(out, extra)
		}
	}
	return p.timed(out, p.prev.Conditions)
}

// errorReason words the Bundle's Error condition as Smith does.
func (p *projection) errorReason() (reason, message string) {
	if p.report.Failed != nil {
		return ReasonTerminalError, mistakesText(p.report.Failed)
	}
	reason = ReasonTerminalError
	if len(p.retriable) > 0 {
		reason = ReasonRetriableError
	}
	failed := slices.Concat(p.terminal, p.retriable)
	slices.SortFunc(failed, func(a, b *row) int { return cmp.Compare(a.index, b.index) })
	names := make([]string, len(failed))
	for i, n := range failed {
		names[i] = n.Name
	}
	return reason, "error processing resource(s): " + quotedList(names)
}

// message is the first cause of the Bundle not being ready: an error that
// stays, an error that may pass, or the first resource that is worked on.
// Blocked resources are consequences.
func (p *projection) message() string {
	switch {
	case p.report.Failed != nil:
		problems := split(p.report.Failed)
		return mistakeText(problems[0]) + more(len(problems)-1)
	case len(p.terminal) > 0:
		return p.terminal[0].cause() + more(p.counts.Error-1)
	case len(p.retriable) > 0:
		return p.retriable[0].cause() + more(p.counts.Error-1)
	case p.active != nil:
		return p.active.cause() + more(p.counts.InProgress-1)
	case p.counts.Done() && len(p.report.ToDelete) > 0:
		return fmt.Sprintf("%d objects that left the Bundle are to be deleted", len(p.report.ToDelete))
	}
	return ""
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// cause is the state of a resource in one line.
func (n *row) cause() string {
	return excerptTo(n.Name, 253) + ": " + excerptTo(n.explained(), maxMessage/2)
}

// explained is "Reason: message", as far as there is any.
func (n *row) explained() string {
	switch {
	case n.Message == "":
		return cmp.Or(n.Reason, n.State.String())
	case n.Reason == "" || n.State != graph.Error:
		return n.Message
	}
	return n.Reason + ": " + n.Message
}

// timed keeps the transition times of conditions whose status did not change.
func (p *projection) timed(conditions, before []metav1.Condition) []metav1.Condition {
	for i := range conditions {
		c := &conditions[i]
		c.LastTransitionTime = p.now
		for j := range before {
			if before[j].Type == c.Type && before[j].Status == c.Status {
				c.LastTransitionTime = before[j].LastTransitionTime
			}
		}
	}
	return conditions
}
