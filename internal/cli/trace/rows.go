package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/truss-dev/truss/internal/cli/terminal"
)

const (
	// maxIndent is how deep the tree is indented; deeper lines say their depth.
	// Of a terminal it takes a fifth at most.
	maxIndent = 10
	// maxNames is how many resources a message names.
	maxNames = 3
)

// row is one line of the tree, clean and not yet measured.
type row struct {
	critical         bool
	lead, sign, name string
	state            State
	object, age      string
	message          string
	// quiet messages say little that the tree does not, and are left out where
	// room is short.
	quiet bool
	// note lines have a name and nothing else.
	note bool
}

// rows returns the lines of the tree.
func (p *painter) rows(t *Trace, f *forest) []row {
	var out []row
	f.walk(p.turn, func(b branch) {
		lead := p.lead(b)
		if b.node < 0 {
			text := fmt.Sprintf("%s %s not shown", p.signs.cut, b.hidden.text())
			out = append(out, row{lead: lead, name: text, note: true})
			return
		}
		out = append(out, p.row(t, f, b.node, lead))
	})
	if len(f.settled) > 0 {
		text := fmt.Sprintf("%s %s not shown", p.signs.cut, f.settled.text())
		out = append(out, row{name: text, note: true})
	}
	return out
}

// deepest is how deep the tree is indented.
func (p *painter) deepest() int {
	if p.Width == 0 {
		return maxIndent
	}
	return min(max(p.Width/15, 2), maxIndent)
}

// lead is what stands before the name in the tree.
func (p *painter) lead(b branch) string {
	switch {
	case b.depth == 0:
		return ""
	case b.depth > p.deepest():
		return b.before + fmt.Sprintf("%s%d ", p.signs.cut, b.depth)
	case b.last:
		return b.before + p.signs.corner
	}
	return b.before + p.signs.branch
}

// turn is what stands before the lines below a line.
func (p *painter) turn(b branch) string {
	switch {
	case b.depth == 0:
		return ""
	case b.depth >= p.deepest():
		return b.before
	case b.last:
		return b.before + p.signs.blank
	}
	return b.before + p.signs.pass
}

func (p *painter) row(t *Trace, f *forest, i int, lead string) row {
	n := &f.nodes[i]
	r := row{
		critical: n.Critical, lead: lead, sign: p.signs.of(n.State), name: p.clean(n.Name), state: n.State,
		object: p.clean(n.Object.String()), age: p.age(&n.Child),
	}
	above := ""
	if f.parent[i] >= 0 {
		above = f.nodes[f.parent[i]].Name
	}
	r.quiet = n.State.settled() || len(n.BlockedBy) == 1 && n.BlockedBy[0] == above
	r.message = p.clean(messageOf(n, t.deletion(), p.Now))
	if after := alsoAfter(n, above); after != "" && !t.deletion() && n.State != Blocked {
		r.message = joined(n.State.settled(), r.message, p.clean(after))
	}
	return r
}

// joined puts what a message says before what a row comes after, unless the
// row is settled: then the message says the least.
func joined(settled bool, message, after string) string {
	switch {
	case message == "":
		return after
	case settled:
		return after + "; " + message
	}
	return message + "; " + after
}

// messageOf says why a resource is where it is.
func messageOf(n *Node, deleting bool, now time.Time) string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	add(deletionText(&n.Child, now))
	switch {
	case n.State == Blocked && len(n.BlockedBy) > 0:
		add("waits for " + listed(n.BlockedBy))
	case deleting && len(n.BlockedBy) > 0:
		add("goes after " + listed(n.BlockedBy))
	case n.State == Error && n.Retrying:
		add(n.Message + " (Truss tries again)")
	default:
		add(n.Message)
	}
	return strings.Join(parts, "; ")
}

// alsoAfter names the needs that the tree does not show.
func alsoAfter(n *Node, above string) string {
	names := make([]string, 0, len(n.Needs))
	for _, need := range n.Needs {
		if need.Name != above {
			names = append(names, need.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "also after " + listed(names)
}

// listed is "a, b, c and 2 more".
func listed(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

// deletionText says since when an object is being deleted, and what holds it.
func deletionText(c *Child, now time.Time) string {
	if c.Deleted == nil {
		return ""
	}
	text := "being deleted for " + duration.HumanDuration(max(now.Sub(*c.Deleted), 0))
	if len(c.Finalizers) > 0 {
		text += ", held by finalizers " + listed(slices.Sorted(slices.Values(c.Finalizers)))
	}
	return text
}

// age is how long the object exists, as kubectl prints it.
func (p *painter) age(c *Child) string {
	if c.Created == nil {
		return "-"
	}
	return duration.HumanDuration(max(p.Now.Sub(*c.Created), 0))
}

// label is the row's first column without its mark.
func (r *row) label() string {
	if r.sign == "" {
		return r.lead + r.name
	}
	return r.lead + r.sign + " " + r.name
}

// paintLabel colours a label that was fitted: the sign in the colour of its
// state.
func (p *painter) paintLabel(r *row, fitted string) string {
	head := r.lead + r.sign
	if r.sign == "" || !strings.HasPrefix(fitted, head) {
		return p.Paint(terminal.Faint, fitted)
	}
	return r.lead + p.Paint(colourOf(r.state), r.sign) + fitted[len(head):]
}
