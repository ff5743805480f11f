package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/truss-dev/truss/internal/cli/terminal"
)

const (
	// pageWidth is how wide headings are and text is written.
	pageWidth = 100
	// indent stands before all that is not a heading.
	indent = "   "
	// gap stands between columns.
	gap = "  "
	// minColumn is how narrow the last column of a table may become.
	minColumn = 20
)

// page writes the demonstration's text. Nothing of the cluster's text can act
// on the terminal.
type page struct {
	terminal.Settings
	terminal.Palette

	out io.Writer
	// failed is the first error of writing.
	failed error
	acts   int
	// passing says that the last line is to be written over.
	passing bool
}

func newPage(out io.Writer, getenv func(string) string) *page {
	s := terminal.Detect(out, getenv)
	return &page{Settings: s, Palette: terminal.Palette{On: s.Colour}, out: out}
}

// sign chooses between a sign and its ASCII form.
func (p *page) sign(unicode, ascii string) string {
	if p.ASCII {
		return ascii
	}
	return unicode
}

func (p *page) write(s string) {
	if p.passing {
		p.passing = false
		s = "\r\x1b[K" + s
	}
	if _, err := io.WriteString(p.out, s); err != nil && p.failed == nil {
		p.failed = fmt.Errorf("cannot write: %w", err)
	}
}

// line writes a line of text that may hold anything.
func (p *page) line(s string) { p.write(indent + terminal.Clean(s, p.ASCII) + "\n") }

func (p *page) blank() { p.write("\n") }

// title begins the page.
func (p *page) title(s string) { p.write("\n" + indent + p.Paint(terminal.Heading, s) + "\n") }

// act begins a numbered part, with a few lines that say what it shows.
func (p *page) act(title string, text ...string) {
	p.acts++
	head := fmt.Sprintf("%d. %s ", p.acts, title)
	p.heading(head)
	for _, s := range text {
		p.line(s)
	}
	p.blank()
}

func (p *page) heading(head string) {
	rule := strings.Repeat(p.sign("─", "-"), max(p.width()-terminal.Width(head), 0))
	p.write("\n" + p.Paint(terminal.Heading, head) + p.Paint(terminal.Faint, rule) + "\n")
}

// width is that of the text: a narrow terminal's, or the page's.
func (p *page) width() int {
	if width, _ := p.Size(); width > 0 && width < pageWidth {
		return width
	}
	return pageWidth
}

// command shows what a person would type.
func (p *page) command(s string) {
	p.write(indent + p.Paint(terminal.Faint, "$ ") + p.Paint(terminal.Heading, terminal.Clean(s, p.ASCII)) + "\n\n")
}

// pass shows what is being waited for, on a terminal, until something else is
// written.
func (p *page) pass(s string) {
	if !p.Live {
		return
	}
	p.write(indent + p.Paint(terminal.Faint, terminal.Fit(terminal.Clean(s, p.ASCII), p.width()-len(indent)-1, p.sign("…", "..."))))
	p.passing = true
}

// table writes rows in aligned columns; the last cell of a row goes on in
// further lines where it is too long.
func (p *page) table(rows ...[]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], terminal.Width(terminal.Clean(cell, p.ASCII)))
		}
	}
	left := p.width() - len(indent)
	for _, width := range widths {
		left -= width + len(gap)
	}
	for _, row := range rows {
		last := len(row) - 1
		for _, line := range terminal.Wrap(terminal.Clean(row[last], p.ASCII), max(left, minColumn), 0, "") {
			p.row(widths, append(slices.Clone(row[:last]), line))
			row = make([]string, last+1)
		}
	}
}

// row writes cells padded to the widths; a negative width pads on the left.
func (p *page) row(widths []int, cells []string) {
	var b strings.Builder
	for i, cell := range cells {
		cell = terminal.Clean(cell, p.ASCII)
		width := 0
		if i < len(widths) {
			width = widths[i]
		}
		b.WriteString(strings.Repeat(" ", max(-width-terminal.Width(cell), 0)))
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", max(width-terminal.Width(cell), 0)) + gap)
	}
	p.write(indent + strings.TrimRight(b.String(), " ") + "\n")
}

// failure says what failed.
func (p *page) failure(what string) {
	p.write(p.Paint(terminal.Bad, "The demonstration failed: ") + terminal.Clean(what, p.ASCII) + "\n")
}

// quote shows lines of somebody else's.
func (p *page) quote(head string, lines []string) {
	p.blank()
	p.line(head)
	for _, s := range lines {
		p.line(gap + s)
	}
	p.blank()
}

// seconds prints a duration as people say it.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// since prints how long after the beginning something was.
func since(d time.Duration) string { return fmt.Sprintf("+%.2fs", d.Seconds()) }
