package terminal

import (
	"fmt"
	"io"
	"strings"
)

// A Screen draws frames over one another in a terminal.
type Screen struct {
	out   io.Writer
	drawn int
}

// NewScreen returns a Screen that begins at the cursor's line.
func NewScreen(out io.Writer) *Screen {
	return &Screen{out: out}
}

// Draw replaces the frame before with lines, each of which must fit the
// width of the terminal, all of them its height less one. It is one write, so
// that nothing flickers.
func (s *Screen) Draw(lines []string) error {
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", s.drawn)
	}
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	s.drawn = len(lines)
	if _, err := io.WriteString(s.out, b.String()); err != nil {
		return fmt.Errorf("cannot draw: %w", err)
	}
	return nil
}
