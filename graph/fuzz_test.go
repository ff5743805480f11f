package graph_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/truss-dev/truss/graph"
)

// decode reads nodes off bytes: lines are nodes, the first byte of a line its
// ID, each further pair a reason and a need.
func decode(data []byte) []graph.Node[int] {
	var nodes []graph.Node[int]
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		node := graph.Node[int]{ID: graph.ID(line[:1]), Weight: int64(len(line)), Payload: i}
		for rest := line[1:]; len(rest) >= 2; rest = rest[2:] {
			node.Needs = append(node.Needs, graph.Need{ID: graph.ID(rest[1:2]), Reason: graph.Reason(rest[0] % 3)})
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// FuzzNew checks that any input gives either a graph that can be walked to its
// end and written, or only errors of the documented types, twice the same.
func FuzzNew(f *testing.F) {
	for _, seed := range []string{
		"", "a", "a0b\nb0c\nc", "a0b\nb0a", "a0a", "a\na\na", "a0x1y2z", "a2b\nb2a", "a0b\nb2a\n\"1a", "\xff0\x00\n\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		nodes := decode(data)
		g, err := graph.New(nodes)
		_, again := graph.New(nodes)
		if err != nil {
			checkProblems(t, err, again)
			return
		}
		r := graph.NewRun(g)
		for i, ok := r.Next(); ok; i, ok = r.Next() {
			r.Set(i, graph.Outcome{State: graph.Ready})
		}
		if got := r.Counts(); !got.Done() {
			t.Fatalf("counts %+v at the end of the run", got)
		}
		for _, write := range writers {
			if err := write(g.View(graph.WithRun(r)), io.Discard); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// checkProblems checks that err holds only documented errors and that again, of
// the same input, says the same.
func checkProblems(t *testing.T, err, again error) {
	t.Helper()
	if again == nil || again.Error() != err.Error() {
		t.Fatalf("New() = %v, then %v", err, again)
	}
	for _, problem := range unjoin(err) {
		var duplicate *graph.DuplicateError
		var missing *graph.MissingError
		var cycle *graph.CycleError
		if !errors.As(problem, &duplicate) && !errors.As(problem, &missing) && !errors.As(problem, &cycle) {
			t.Fatalf("undocumented error %v", problem)
		}
	}
}
