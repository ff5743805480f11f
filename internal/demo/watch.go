package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/truss-dev/truss/internal/cli/terminal"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// gather is how long changes are gathered before they are shown together.
const gather = 100 * time.Millisecond

// watch shows the Bundle on every change until done says so.
func (d *demo) watch(ctx context.Context, began time.Time, done func(*trace.Trace) bool) error {
	show := d.lines(began)
	if d.page.Live {
		show = d.page.frames()
	}
	for {
		t, err := d.journal.look()
		if err != nil {
			return err
		}
		if t == nil {
			return fmt.Errorf("the Bundle %q is gone", bundleName)
		}
		show(t)
		if done(t) {
			return nil
		}
		if d.page.failed != nil {
			return d.page.failed
		}
		if t.Verdict() == trace.Failed {
			return fmt.Errorf("the Bundle %q has failed: %s", bundleName, t.Message)
		}
		if err := d.wait(ctx); err != nil {
			return fmt.Errorf("the Bundle %q is %s, Ready %d/%d (%s): %w", bundleName, t.State, t.Done, t.Total, t.Message, err)
		}
	}
}

// wait returns after the next change, or a second.
func (d *demo) wait(ctx context.Context) error {
	second := time.NewTimer(time.Second)
	defer second.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-second.C:
		return d.crashed(ctx)
	case <-d.journal.changed:
	}
	more := time.NewTimer(gather)
	defer more.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-more.C:
		return nil
	}
}

// frames draws each trace over the one before.
func (p *page) frames() func(*trace.Trace) {
	screen := terminal.NewScreen(p.out)
	return func(t *trace.Trace) {
		width, height := p.Size()
		lines := t.Lines(trace.Options{
			Width: max(width-len(indent), 0), MessageLines: 2, ASCII: p.ASCII, Colour: p.Colour, Now: time.Now(),
		})
		if height > 1 && len(lines) >= height {
			lines = lines[:height-1] // lines that scrolled away cannot be drawn again
		}
		for i := range lines {
			lines[i] = strings.TrimRight(indent+lines[i], " ")
		}
		p.write("") // what is written over is over
		if err := screen.Draw(lines); err != nil && p.failed == nil {
			p.failed = err
		}
	}
}

// lines prints a line for each resource that is worked on or became Ready
// since the last one, in the order of the graph. That others wait for it is no
// news.
func (d *demo) lines(began time.Time) func(*trace.Trace) {
	var widths []int
	return func(t *trace.Trace) {
		if widths == nil {
			widths = columns(t)
			d.page.row(widths, []string{"at", "RESOURCE", "STATE", "OBJECT", "MESSAGE"})
		}
		for i := range t.Nodes {
			n := &t.Nodes[i]
			if n.State == trace.Unknown || n.State == trace.Blocked {
				continue
			}
			if news := string(n.State) + remark(n); d.told[n.Name] != news {
				d.page.row(widths, []string{since(time.Since(began)), n.Name, string(n.State), n.Object.String(), remark(n)})
				d.told[n.Name] = news
			}
		}
	}
}

// columns are the widths of the columns of lines.
func columns(t *trace.Trace) []int {
	widths := []int{-8, 0, len(trace.InProgress), 0}
	for i := range t.Nodes {
		widths[1] = max(widths[1], len(t.Nodes[i].Name))
		widths[3] = max(widths[3], len(t.Nodes[i].Object.String()))
	}
	return widths
}

// remark is the message of a resource that is not Ready.
func remark(n *trace.Node) string {
	if n.State == trace.Ready {
		return ""
	}
	return n.Message
}
