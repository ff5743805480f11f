package trace

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/truss-dev/truss/internal/cli/terminal"
)

// Options say how a trace is drawn.
type Options struct {
	// Width is the number of columns that no line exceeds; 0 for any.
	Width int
	// Rows is the number of resources above which those that are Ready are
	// left out and about how many are shown; 0 shows all.
	Rows int
	// MessageLines is how many lines a message in the tree may take; 0 for any.
	MessageLines int
	// ASCII uses nothing but ASCII, Colour the colours of a terminal.
	ASCII, Colour bool
	// Now is what ages are counted from.
	Now time.Time
}

// Lines draws the trace: a line with the Bundle, its progress and the first
// cause of it not being Ready; mistakes in the spec; the tree; objects to
// delete. Nothing of the cluster's text can act on the terminal. O(V+E).
func (t *Trace) Lines(o Options) []string {
	p := newPainter(o)
	p.heading(t)
	p.problems(t.Problems)
	if len(t.Nodes) > 0 {
		f := newForest(t, o.Rows)
		p.tree(t, f)
	}
	p.removals(t.ToDelete)
	return p.lines
}

// WriteText writes Lines, each with a line break.
func (t *Trace) WriteText(w io.Writer, o Options) error {
	text := strings.Join(t.Lines(o), "\n") + "\n"
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("cannot write the trace: %w", err)
	}
	return nil
}

// painter collects the lines of one drawing.
type painter struct {
	Options
	terminal.Palette

	signs signs
	lines []string
}

func newPainter(o Options) *painter {
	p := &painter{Options: o, Palette: terminal.Palette{On: o.Colour}, signs: unicodeSigns()}
	if o.ASCII {
		p.signs = asciiSigns()
	}
	return p
}

func (p *painter) line(s string) { p.lines = append(p.lines, strings.TrimRight(s, " ")) }

func (p *painter) clean(s string) string { return terminal.Clean(s, p.ASCII) }

// wrap breaks clean text into lines of what is left beside indent.
func (p *painter) wrap(s string, indent, most int) []string {
	if p.Width == 0 {
		return []string{s}
	}
	return terminal.Wrap(s, p.Width-indent, most, p.signs.cut)
}

// fit cuts clean text to the width.
func (p *painter) fit(s string, limit int) string {
	if p.Width == 0 {
		return s
	}
	return terminal.Fit(s, limit, p.signs.cut)
}

// heading is "Bundle shop/web  InProgress  Ready 3/5  the first cause". The
// cause goes on in further lines where one is too short.
func (p *painter) heading(t *Trace) {
	name := p.clean(t.Kind + " " + t.Namespace + "/" + t.Name)
	state := string(t.State)
	progress := p.progress(t)
	message := p.clean(t.Message)
	if len(t.Problems) > 0 && strings.Contains(t.Message, t.Problems[0]) {
		message = "" // it follows as the first of the mistakes
	}
	plain := name + "  " + state + progress
	if p.Width > 0 && terminal.Width(plain) > p.Width {
		for i, s := range p.wrap(plain, 0, 0) {
			p.line(p.Paint([]terminal.Colour{colourOf(t.State), terminal.Plain}[min(i, 1)], s))
		}
		p.indented(message, terminal.Plain)
		return
	}
	line := p.Paint(terminal.Heading, name) + "  " + p.Paint(colourOf(t.State), state) + progress
	if message != "" && (p.Width == 0 || terminal.Width(plain)+2+terminal.Width(message) <= p.Width) {
		line, message = line+"  "+message, ""
	}
	p.line(line)
	p.indented(message, terminal.Plain)
}

func (p *painter) progress(t *Trace) string {
	switch {
	case t.deletion() && t.Total > 0:
		return fmt.Sprintf("  Gone %d/%d", t.Done, t.Total)
	case t.deletion():
		return ""
	case t.Stale && t.State != Unknown:
		return fmt.Sprintf("  Ready %d/%d  (generation %d is not observed yet)", t.Done, t.Total, t.Generation)
	}
	return fmt.Sprintf("  Ready %d/%d", t.Done, t.Total)
}

func (p *painter) indented(s string, c terminal.Colour) {
	if s == "" {
		return
	}
	for _, line := range p.wrap(s, 2, 0) {
		p.line("  " + p.Paint(c, line))
	}
}

// problems lists the mistakes in the spec, one item each.
func (p *painter) problems(all []string) {
	if len(all) == 0 {
		return
	}
	p.line("")
	p.line(p.Paint(terminal.Heading, plural(len(all), "mistake")+" in the spec:"))
	for _, s := range all {
		p.indented(p.clean(s), terminal.Bad)
	}
}

// removals lists the objects that are no longer in the spec.
func (p *painter) removals(all []Removal) {
	if len(all) == 0 {
		return
	}
	p.line("")
	p.line(p.fit(plural(len(all), "object")+" to delete:", p.Width))
	shown := all
	if p.Rows > 0 && len(all) > p.Rows {
		shown = all[:p.Rows]
	}
	widest := 0
	for i := range shown {
		widest = max(widest, terminal.Width(p.clean(shown[i].Object.String())))
	}
	for i := range shown {
		p.removal(&shown[i], widest)
	}
	if n := len(all) - len(shown); n > 0 {
		p.line(p.fit(fmt.Sprintf("  %s %d more", p.signs.cut, n), p.Width))
	}
}

// removal is "Kind/name  Waiting  5m  why", the name padded to a width.
func (p *painter) removal(r *Removal, width int) {
	text := terminal.Pad(p.clean(r.Object.String()), width) + gap + string(r.State)
	if age := p.age(&r.Child); age != "-" {
		text += gap + age
	}
	if why := deletionText(&r.Child, p.Now); why != "" {
		text += gap + p.clean(why)
	}
	p.line(gap + p.Paint(colourOf(r.State), p.signs.of(r.State)) + " " + p.fit(text, p.Width-4))
}

// text is "3 Blocked, 1 InProgress", worst first.
func (t tally) text() string {
	states := make([]State, 0, len(t))
	for s := range t {
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b State) int {
		if a.rank() != b.rank() {
			return a.rank() - b.rank()
		}
		return strings.Compare(string(a), string(b))
	})
	parts := make([]string, len(states))
	for i, s := range states {
		parts[i] = strconv.Itoa(t[s]) + " " + string(s)
	}
	return strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
