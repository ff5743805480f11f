package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/truss-dev/truss/internal/cli/terminal"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// rowsOf is a trace of n resources in progress.
func rowsOf(n int) *trace.Trace {
	t := &trace.Trace{Kind: "Bundle", Namespace: "ns", Name: "a", State: trace.InProgress, Total: n}
	for i := range n {
		t.Nodes = append(t.Nodes, trace.Node{Name: fmt.Sprintf("r%d", i), State: trace.InProgress, Message: strings.Repeat("long ", 40)})
	}
	return t
}

func TestFramesFitTheTerminal(t *testing.T) {
	for _, height := range []int{3, 10, 24} {
		var out bytes.Buffer
		tr := &tracer{out: &out, settings: terminal.Settings{Live: true, Size: func() (int, int) { return 70, height }}}
		v := tr.view()
		for range 2 {
			if err := v.show(rowsOf(50)); err != nil {
				t.Fatal(err)
			}
		}
		first, _, redrawn := strings.Cut(out.String(), "\x1b[")
		if lines := strings.Count(first, "\n"); lines > height-1 || !redrawn {
			t.Errorf("%d lines in a terminal of %d, drawn again: %v", lines, height, redrawn)
		}
		if !strings.HasSuffix(first, "more lines)\n") && height < 10 {
			t.Errorf("nothing says that lines are missing:\n%s", first)
		}
		out.Reset()
		if err := v.end(rowsOf(50)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "InProgress  -"); got != 50 {
			t.Errorf("the last frame has %d of 50 rows", got)
		}
	}
}

func TestJSONLinesAreDifferent(t *testing.T) {
	var out bytes.Buffer
	v := (&tracer{out: &out, output: "json"}).view()
	for _, n := range []int{1, 1, 2, 2} {
		if err := v.show(rowsOf(n)); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(), "\n"); got != 2 {
		t.Errorf("%d lines for two traces", got)
	}
}
