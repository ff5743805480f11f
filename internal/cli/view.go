package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/truss-dev/truss/internal/cli/terminal"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// view shows one trace after another.
type view interface {
	// show shows a trace that is not the last.
	show(t *trace.Trace) error
	// end shows the last one.
	end(t *trace.Trace) error
}

func (t *tracer) view() view {
	switch {
	case t.output == "json":
		return &jsonView{out: t.out}
	case t.settings.Live:
		return &liveView{tracer: t, screen: terminal.NewScreen(t.out)}
	}
	return &lineView{tracer: t}
}

// Bounds of a frame, in lines: what stands around the tree, and the rows of
// the smallest tree.
const (
	frameMargin = 8
	minRows     = 4
)

// liveView draws each trace over the one before.
type liveView struct {
	tracer *tracer
	screen *terminal.Screen
}

func (v *liveView) show(t *trace.Trace) error {
	o := v.tracer.options()
	_, height := v.tracer.settings.Size()
	if height == 0 {
		return v.screen.Draw(t.Lines(o))
	}
	o.MessageLines = 2
	room := max(height-frameMargin, minRows)
	if o.Rows == 0 || o.Rows > room {
		o.Rows = room
	}
	return v.screen.Draw(clip(t.Lines(o), height-1))
}

func (v *liveView) end(t *trace.Trace) error { return v.screen.Draw(t.Lines(v.tracer.options())) }

// clip keeps a frame within the terminal, since lines that scrolled away
// cannot be drawn again.
func clip(lines []string, height int) []string {
	if len(lines) <= height || height < 2 {
		return lines
	}
	return append(lines[:height-1:height-1], fmt.Sprintf("(%d more lines)", len(lines)-height+1))
}

// lineView prints the first trace and then what changes.
type lineView struct {
	tracer *tracer
	last   *trace.Trace
}

func (v *lineView) show(t *trace.Trace) error {
	o := v.tracer.options()
	before := v.last
	v.last = t
	if before == nil {
		return t.WriteText(v.tracer.out, o)
	}
	for _, line := range trace.Changes(before, t, o) {
		if _, err := fmt.Fprintln(v.tracer.out, line); err != nil {
			return fmt.Errorf("cannot write the trace: %w", err)
		}
	}
	return nil
}

func (v *lineView) end(t *trace.Trace) error { return v.show(t) }

// jsonView prints each trace that differs from the one before as a line of
// JSON.
type jsonView struct {
	out  io.Writer
	last string
}

func (v *jsonView) show(t *trace.Trace) error {
	var b strings.Builder
	if err := t.WriteJSON(&b, true); err != nil {
		return err
	}
	if b.String() == v.last {
		return nil
	}
	v.last = b.String()
	if _, err := io.WriteString(v.out, v.last); err != nil {
		return fmt.Errorf("cannot write the trace: %w", err)
	}
	return nil
}

func (v *jsonView) end(t *trace.Trace) error { return v.show(t) }
