package graph_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/truss-dev/truss/graph"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// hostile holds IDs that try to break out of where they are written.
var hostile = []graph.ID{
	`quote"] [shape=none`, `back\slash`, `\`, "new\nline", "carriage\rreturn", "}{][)(", "<b>html</b>", "<html>",
	`"; classDef x fill:red`, "--> n0", "%%{init: {}}%%", "`markdown`", "end", "#quot;", "&amp;", "größe", "日本", "🚀",
	"\x00", "\xff", "\xfe", "\ufffd", "\u2028", "\u202eevil", "", " ",
}

// write is one of the ways to write a View.
type write func(graph.View, io.Writer) error

// writers are the exports by the ending of their files.
var writers = map[string]write{
	"dot":  graph.View.WriteDOT,
	"mmd":  graph.View.WriteMermaid,
	"json": graph.View.WriteJSON,
}

// hostileGraph chains all hostile IDs.
func hostileGraph(t *testing.T) *graph.Graph[string] {
	t.Helper()
	var nodes []graph.Node[string]
	for i, id := range hostile {
		node := graph.Node[string]{ID: id}
		if i > 0 {
			node.Needs = []graph.Need{{ID: hostile[i-1], Reason: graph.Reason(i % 3)}}
		}
		nodes = append(nodes, node)
	}
	g, err := graph.New(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// stackGraph is a small graph with every state, every reason and a dropped edge.
func stackGraph(t *testing.T) (*graph.Graph[string], []graph.ViewOption) {
	t.Helper()
	p := perform(t,
		[]string{
			"namespace", "secret: ?namespace ?web", "database: &secret", "web: database &secret ?namespace",
			"probe", "extra: probe", "debug",
		},
		[]string{"ready namespace", "ready secret", "progress database", "fail probe", "exclude debug"},
	)
	labels := map[graph.ID]string{"secret": "Secret/database"}
	messages := map[graph.ID]string{
		"database": "waits for status.endpoint",
		"probe":    "cannot create: " + strings.Repeat("long ", 30),
	}
	return p.graph, []graph.ViewOption{
		graph.WithTitle(`stack "one"`),
		graph.WithRun(p.run),
		graph.WithMessages(func(i int) string { return messages[p.graph.At(i).ID] }),
		graph.WithLabels(func(i int) string { return labels[p.graph.At(i).ID] }),
	}
}

func TestExportsMatchGoldenFiles(t *testing.T) {
	stack, opts := stackGraph(t)
	views := map[string]graph.View{
		"empty":   mustNew(t).View(),
		"plain":   mustNew(t, "a", "b: a", "c: &a ?b", "d").View(),
		"stack":   stack.View(opts...),
		"hostile": hostileGraph(t).View(graph.WithTitle("title\": x\n---\n")),
	}
	for name, view := range views {
		for ending, write := range writers {
			t.Run(name+"."+ending, func(t *testing.T) {
				var got bytes.Buffer
				if err := write(view, &got); err != nil {
					t.Fatal(err)
				}
				checkGolden(t, filepath.Join("testdata", name+"."+ending), got.Bytes())
			})
		}
	}
}

// checkGolden compares got with a file, or writes it there with -update.
func checkGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want, +got (rewrite with -update):\n%s", file, diff)
	}
}

// A parsed is what gonum's DOT parser builds; it keeps IDs and labels.
type parsed struct {
	*simple.DirectedGraph
}

// A parsedNode is one node of a parsed graph.
type parsedNode struct {
	gonum.Node
	name string
}

func (p parsed) NewNode() gonum.Node       { return &parsedNode{Node: p.DirectedGraph.NewNode()} }
func (n *parsedNode) SetDOTID(name string) { n.name = name }

func TestDOTParsesBackWithHostileIDs(t *testing.T) {
	var out bytes.Buffer
	if err := hostileGraph(t).View().WriteDOT(&out); err != nil {
		t.Fatal(err)
	}
	p := parsed{simple.NewDirectedGraph()}
	if err := dot.Unmarshal(out.Bytes(), p); err != nil {
		t.Fatalf("cannot parse: %v\n%s", err, out.String())
	}
	next := map[graph.ID]graph.ID{}
	edges := p.Edges()
	for edges.Next() {
		e := edges.Edge()
		next[parsedID(e.From())] = parsedID(e.To())
	}
	want := map[graph.ID]graph.ID{}
	for i := range len(hostile) - 1 {
		want[hostile[i]] = hostile[i+1]
	}
	if diff := cmp.Diff(want, next); diff != "" {
		t.Errorf("edges: -want, +got:\n%s", diff)
	}
	if got := p.Nodes().Len(); got != len(hostile) {
		t.Errorf("%d nodes, want %d", got, len(hostile))
	}
}

// parsedID undoes gonum's reading of "<...>" as HTML, which it does not unquote.
func parsedID(n gonum.Node) graph.ID {
	name := n.(*parsedNode).name
	if strings.HasPrefix(name, `"<`) {
		name = strings.Trim(name, `"`)
	}
	return graph.ID(name)
}

func TestMermaidKeepsHostileTextInsideLabels(t *testing.T) {
	var out bytes.Buffer
	opts := []graph.ViewOption{
		graph.WithStates(func(int) graph.State { return graph.Ready }),
		graph.WithMessages(func(i int) string { return string(hostile[i]) }),
	}
	if err := hostileGraph(t).View(opts...).WriteMermaid(&out); err != nil {
		t.Fatal(err)
	}
	statement := regexp.MustCompile(`^(flowchart LR` +
		`|  n\d+\["([\pL\pN _./:,…#;-]|<br/>)*"\]:::Ready` +
		`|  n\d+ (-->|-->\|referenced\||-\.->\|inferred\|) n\d+` +
		`|  classDef Ready fill:#[0-9a-f]{6},color:#000000` +
		`|  class n\d+(,n\d+)* critical` +
		`|  (classDef critical|linkStyle \d+(,\d+)*) stroke:#[0-9a-f]{6},stroke-width:3px)$`)
	for line := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n"), "\n") {
		if !statement.MatchString(line) {
			t.Errorf("not a statement that the writer means to write: %q", line)
		}
	}
}

func TestJSONReadsBackIntoTheSameDrawing(t *testing.T) {
	stack, opts := stackGraph(t)
	want := stack.View(opts...)
	var out bytes.Buffer
	if err := want.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var got graph.View
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("view: -want, +got:\n%s", diff)
	}
}

func TestViewIsOneMomentOfTheRun(t *testing.T) {
	p := perform(t, []string{"a", "b: a"}, []string{"ready a"})
	option := graph.WithRun(p.run)
	p.run.Set(0, graph.Outcome{State: graph.Error})
	var got []string
	for _, n := range p.graph.View(option).Nodes {
		got = append(got, n.State)
	}
	if diff := cmp.Diff([]string{"Ready", "InProgress"}, got); diff != "" {
		t.Errorf("states: -want, +got:\n%s", diff)
	}
}

// errBoom is what a broken writer returns.
var errBoom = errors.New("boom")

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBoom }

func TestExportsReturnTheWritersError(t *testing.T) {
	for ending, write := range writers {
		t.Run(ending, func(t *testing.T) {
			if err := write(mustNew(t, "a").View(), broken{}); !errors.Is(err, errBoom) {
				t.Errorf("error = %v, want %v", err, errBoom)
			}
		})
	}
}

func TestMermaidRefusesEdgesOutsideTheView(t *testing.T) {
	view := graph.View{Nodes: []graph.ViewNode{{ID: "a"}}, Edges: []graph.ViewEdge{{From: "a", To: "ghost"}}}
	if err := view.WriteMermaid(io.Discard); err == nil || !strings.Contains(err.Error(), `"ghost"`) {
		t.Errorf("error = %v, want one that names the ghost", err)
	}
}
