package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/internal/cli/terminal"
	"github.com/truss-dev/truss/internal/cli/trace"
)

func nothing(string) string { return "" }

func TestTablesAreAligned(t *testing.T) {
	var out strings.Builder
	newPage(&out, nothing).table(
		[]string{"a", "bb", strings.Repeat("word ", 20) + "end"},
		[]string{"long", "b", "x\x1b[31mred"},
	)
	want := "" +
		"   a     bb  " + strings.TrimRight(strings.Repeat("word ", 17), " ") + "\n" +
		"             word word word end\n" +
		"   long  b   x\\x1b[31mred\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("long cells go on below, and nothing acts on the terminal (-want +got):\n%s", diff)
	}
}

func TestWhatPassesIsWrittenOverOnATerminalOnly(t *testing.T) {
	for name, c := range map[string]struct {
		live         bool
		want, reason string
	}{
		"terminal": {true, "   waiting\r\x1b[K   done\n", "the next line takes its place"},
		"pipe":     {false, "   done\n", "a pipe cannot forget"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			p := newPage(&out, nothing)
			p.Live = c.live
			p.pass("waiting")
			p.line("done")
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestFramesFitTheTerminal(t *testing.T) {
	var out strings.Builder
	p := newPage(&out, nothing)
	p.Live, p.Size = true, func() (int, int) { return 60, 5 }
	tree := &trace.Trace{Kind: "Bundle", Namespace: "default", Name: "shop", State: trace.InProgress, Total: 9}
	for name := range strings.FieldsSeq("a b c d e f g h i") {
		tree.Nodes = append(tree.Nodes, trace.Node{Name: name, State: trace.Ready, Message: strings.Repeat("long ", 30)})
	}
	p.frames()(tree)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 4 {
		t.Errorf("%d lines where 4 can be drawn again:\n%s", len(lines), &out)
	}
	for _, line := range lines {
		if terminal.Width(line) > 60 || strings.HasSuffix(line, " ") {
			t.Errorf("line does not fit: %q", line)
		}
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestDemoEndsWhenNobodyReads(t *testing.T) {
	d := &demo{page: newPage(closedPipe{}, nothing)}
	if err := d.play(t.Context()); err == nil || err.Error() != "cannot write: broken pipe" || d.page.acts != 0 {
		t.Errorf("%d acts for nobody, %v", d.page.acts, err)
	}
}

func TestMetricsAreDigested(t *testing.T) {
	found, err := parse(strings.NewReader(`
# TYPE truss_graph_nodes gauge
truss_graph_nodes{owner="shop",state="Ready"} 6
truss_graph_nodes{owner="shop",state="Error"} 0
truss_graph_nodes{owner="other",state="Ready"} 9
# TYPE truss_applies_total counter
truss_applies_total{kind="Job.batch",operation="create",result="ok"} 1
truss_applies_total{kind="Service",operation="create",result="ok"} 2
truss_applies_total{kind="Service",operation="create",result="error"} 4
truss_applies_total{kind="Service",operation="apply",result="ok"} 5
# TYPE truss_node_blocked_seconds histogram
truss_node_blocked_seconds_sum{kind="Job.batch"} 9
truss_node_blocked_seconds_count{kind="Job.batch"} 2
truss_node_blocked_seconds_sum{kind="ConfigMap"} 0.01
truss_node_blocked_seconds_count{kind="ConfigMap"} 1
# TYPE truss_owner_writes_total counter
truss_owner_writes_total{type="a"} 1
truss_owner_writes_total{type="b"} 1
truss_owner_writes_total{type="c"} 1
truss_owner_writes_total{type="d"} 2
`))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range digest(found) {
		got[row[0]] = row[2]
	}
	want := map[string]string{
		"truss_graph_nodes": "Ready 6", "truss_applies_total": "apply 5, create 3", "truss_node_blocked_seconds": "Job 4.5s",
		"truss_graph_run_duration_seconds": "", "truss_node_time_to_ready_seconds": "", "truss_owner_writes_total": "d 2, a 1, b 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the Bundle's own, what is not 0, the largest first; empty where there is none (-want +got):\n%s", diff)
	}
}

func TestDeletionsMustBeReversed(t *testing.T) {
	node := func(name string, needs ...string) trace.Node {
		n := trace.Node{Name: name, Object: trace.Object{Kind: "ConfigMap", Name: name}}
		for _, need := range needs {
			n.Needs = append(n.Needs, trace.Need{Name: need})
		}
		return n
	}
	nodes := []trace.Node{node("base"), node("left", "base"), node("right", "base"), node("top", "left", "right")}
	for name, c := range map[string]struct{ order, want, reason string }{
		"reversed":      {"top right left base", "", "either of two that do not refer to each other may go first"},
		"base too soon": {"top left base right", "base was deleted before right, which refers to it", "one dependant is there still"},
		"as it came":    {"base left right top", "base was deleted before left, which refers to it", "this is the order of creation"},
	} {
		t.Run(name, func(t *testing.T) {
			var gone []departure
			for object := range strings.FieldsSeq(c.order) {
				gone = append(gone, departure{kind: schema.GroupKind{Kind: "ConfigMap"}, name: object})
			}
			got := ""
			if err := backwards(nodes, gone); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}
