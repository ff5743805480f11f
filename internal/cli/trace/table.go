package trace

import (
	"slices"
	"strings"

	"github.com/truss-dev/truss/internal/cli/terminal"
)

const (
	// gap stands between columns.
	gap = "  "
	// minMessage is the width below which messages get lines of their own.
	minMessage = 28
)

// table is where the columns of a tree begin.
type table struct {
	label, state, object, age int
	// message is the width of the last column; 0 gives messages lines of their
	// own.
	message int
	// split gives object and age a line of their own, too.
	split bool
}

// tree draws the rows below a line of headings.
func (p *painter) tree(t *Trace, f *forest) {
	rows := p.rows(t, f)
	c := p.measure(rows)
	p.line("")
	if slices.ContainsFunc(rows, func(r row) bool { return !r.note }) {
		p.headings(c)
	}
	for i := range rows {
		p.draw(&rows[i], c)
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.critical }) {
		p.line(p.Paint(terminal.Faint, p.fit(critical+" on the critical path", p.Width)))
	}
}

// headings draws the line above the rows.
func (p *painter) headings(c table) {
	head := row{name: "RESOURCE", object: "OBJECT", age: "AGE", message: "MESSAGE"}
	heading := p.left(&head, "STATE", c)
	switch {
	case c.split:
		heading = p.fit("  "+terminal.Pad(head.name, c.label)+gap+"STATE", p.Width)
	case c.message != 0:
		heading += gap + head.message
	}
	heading = strings.TrimRight(heading, " ")
	p.line(p.Paint(terminal.Heading, heading))
}

// measure makes the columns as wide as what they hold, since names that are
// cut cannot be used; what does not fit beside them goes below.
func (p *painter) measure(rows []row) table {
	c := table{label: len("RESOURCE"), state: len("STATE"), object: len("OBJECT"), age: len("AGE")}
	for i := range rows {
		r := &rows[i]
		if r.note {
			continue
		}
		c.label = max(c.label, terminal.Width(r.label()))
		c.state = max(c.state, len(r.state))
		c.object = max(c.object, terminal.Width(r.object))
		c.age = max(c.age, len(r.age))
	}
	switch {
	case p.Width == 0:
		c.message = -1
	case c.width()+len(gap)+minMessage <= p.Width:
		c.message = p.Width - c.width() - len(gap)
	case c.width() > p.Width:
		c.split = true
		c.label = max(min(c.label, p.Width-2-len(gap)-c.state), 1)
	}
	return c
}

// width is that of all columns before the message.
func (c table) width() int {
	return 2 + c.label + len(gap) + c.state + len(gap) + c.object + len(gap) + c.age
}

// left is the row's columns before the message, padded.
func (p *painter) left(r *row, state string, c table) string {
	label := r.label()
	var b strings.Builder
	b.WriteString(p.markCell(r))
	b.WriteString(p.paintLabelOr(r, label))
	b.WriteString(terminal.Pad("", c.label-terminal.Width(label)) + gap)
	b.WriteString(p.Paint(stateColour(r), state) + terminal.Pad("", c.state-len(state)) + gap)
	b.WriteString(terminal.Pad(r.object, c.object) + gap)
	b.WriteString(terminal.Pad(r.age, c.age))
	return b.String()
}

// markCell is the row's mark, two columns wide.
func (p *painter) markCell(r *row) string {
	if r.critical {
		return p.Paint(terminal.Marked, critical) + " "
	}
	return "  "
}

// paintLabelOr leaves the label of the headings alone.
func (p *painter) paintLabelOr(r *row, label string) string {
	if r.state == "" {
		return label
	}
	return p.paintLabel(r, label)
}

func stateColour(r *row) terminal.Colour {
	if r.state == "" {
		return terminal.Plain
	}
	return colourOf(r.state)
}

// draw adds the lines of one row.
func (p *painter) draw(r *row, c table) {
	switch {
	case r.note:
		p.line("  " + r.lead + p.Paint(terminal.Faint, p.fit(r.name, p.Width-2-terminal.Width(r.lead))))
	case c.message != 0:
		p.drawWide(r, c)
	default:
		p.drawNarrow(r, c)
	}
}

// drawWide puts the message beside the row, its further lines below.
func (p *painter) drawWide(r *row, c table) {
	left := p.left(r, string(r.state), c)
	if r.message == "" {
		p.line(left)
		return
	}
	if p.Width == 0 {
		p.line(left + gap + r.message)
		return
	}
	most := p.MessageLines
	if r.quiet {
		most = 1
	}
	for i, s := range terminal.Wrap(r.message, c.message, most, p.signs.cut) {
		if i > 0 {
			left = strings.Repeat(" ", c.width())
		}
		p.line(left + gap + p.Paint(messageColour(r), s))
	}
}

// drawNarrow puts the message below the row, and the object too where the row
// is too long.
func (p *painter) drawNarrow(r *row, c table) {
	indent := min(2+terminal.Width(r.lead)+2, p.Width/2)
	margin := strings.Repeat(" ", indent)
	if c.split {
		label := p.fit(r.label(), c.label)
		state := p.fit(string(r.state), p.Width-2-c.label-len(gap))
		p.line(p.markCell(r) + p.paintLabel(r, label) + terminal.Pad("", c.label-terminal.Width(label)) +
			gap + p.Paint(colourOf(r.state), state))
		p.line(margin + p.fit(r.object+gap+r.age, p.Width-indent))
	} else {
		p.line(p.left(r, string(r.state), c))
	}
	if r.message == "" || r.quiet {
		return
	}
	for _, s := range p.wrap(r.message, indent, p.MessageLines) {
		p.line(margin + p.Paint(messageColour(r), s))
	}
}

func messageColour(r *row) terminal.Colour {
	switch {
	case r.state == Error:
		return terminal.Bad
	case r.quiet:
		return terminal.Faint
	}
	return terminal.Plain
}
