package trace

import (
	"fmt"
	"strings"
	"time"
)

// maxQuiet is how many resources that settle at once are told one by one.
const maxQuiet = 20

// Changes returns what is new in after, one line each, for an output on which
// nothing can be drawn again: resources whose state changed, or whose message
// did while they are not Ready, in the order of the graph; then the Bundle, if
// its state, progress or message changed. With o.Rows, many resources that
// settle at once are one line. before may be nil.
func Changes(before, after *Trace, o Options) []string {
	p := newPainter(o)
	p.Width = 0
	known := map[string]*Node{}
	if before != nil {
		for i := range before.Nodes {
			known[before.Nodes[i].Name] = &before.Nodes[i]
		}
	}
	var moved []*Node
	quiet := tally{}
	settled := 0
	for i := range after.Nodes {
		n := &after.Nodes[i]
		if old := known[n.Name]; old != nil && !differs(old, n) {
			continue
		}
		moved = append(moved, n)
		if n.State.settled() {
			settled++
		}
	}
	for _, n := range moved {
		if n.State.settled() && o.Rows > 0 && settled > maxQuiet {
			quiet.add(n.State)
			continue
		}
		p.change(after, n)
	}
	if len(quiet) > 0 {
		p.line(stamp(o.Now) + "  " + quiet.text())
	}
	if before == nil || summary(before) != summary(after) {
		p.summary(after)
	}
	return p.lines
}

func differs(before, after *Node) bool {
	if before.State != after.State || before.Retrying != after.Retrying || (before.Deleted == nil) != (after.Deleted == nil) {
		return true
	}
	return !after.State.settled() && after.State != Blocked && before.Message != after.Message
}

func (p *painter) change(t *Trace, n *Node) {
	fields := []string{stamp(p.Now), p.clean(n.Name), p.clean(n.Object.String()), p.Paint(colourOf(n.State), string(n.State))}
	if message := p.clean(messageOf(n, t.deletion(), p.Now)); message != "" && !n.State.settled() {
		fields = append(fields, message)
	}
	p.line(strings.Join(fields, "  "))
}

func (p *painter) summary(t *Trace) {
	p.line(stamp(p.Now) + "  " + p.clean(summary(t)))
}

func summary(t *Trace) string {
	word := "ready"
	if t.deletion() {
		word = "gone"
	}
	s := fmt.Sprintf("%s %s/%s  %s  %d/%d %s", t.Kind, t.Namespace, t.Name, t.State, t.Done, t.Total, word)
	if t.Message != "" {
		s += "  " + t.Message
	}
	return s
}

func stamp(now time.Time) string { return now.Format(time.TimeOnly) }
