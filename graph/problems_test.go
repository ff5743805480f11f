package graph_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/truss-dev/truss/graph"
)

func TestNewReportsEveryProblem(t *testing.T) {
	cases := map[string]struct {
		reason string
		nodes  []string
		want   []error
	}{
		"TwoCycle": {
			reason: "S50: two nodes that need each other.",
			nodes:  []string{"a: b", "b: a"},
			want:   []error{&graph.CycleError{Path: []graph.ID{"a", "b", "a"}}},
		},
		"ThreeCycle": {
			reason: "S51: the path follows the needs, from the node that was listed first.",
			nodes:  []string{"b: c", "a: b", "c: a"},
			want:   []error{&graph.CycleError{Path: []graph.ID{"b", "c", "a", "b"}}},
		},
		"CycleBehindStart": {
			reason: "S52: a node that only leads to a cycle is not part of the path.",
			nodes:  []string{"start: a", "a: b", "b: c", "c: a"},
			want:   []error{&graph.CycleError{Path: []graph.ID{"a", "b", "c", "a"}}},
		},
		"SelfReference": {
			reason: "S60: a node that needs itself.",
			nodes:  []string{"a: a"},
			want:   []error{&graph.CycleError{Path: []graph.ID{"a", "a"}}},
		},
		"ShortestCycle": {
			reason: "Of the cycles through the first node a shortest one is shown.",
			nodes:  []string{"a: b d", "b: c", "c: a", "d: a"},
			want:   []error{&graph.CycleError{Path: []graph.ID{"a", "d", "a"}}},
		},
		"CyclePerComponent": {
			reason: "Separate cycles are separate problems, by their first node.",
			nodes:  []string{"x: y", "a: b", "b: a", "y: x", "c: a x"},
			want: []error{
				&graph.CycleError{Path: []graph.ID{"x", "y", "x"}},
				&graph.CycleError{Path: []graph.ID{"a", "b", "a"}},
			},
		},
		"CycleBehindCycle": {
			reason: "The search for one cycle does not hide another one that its nodes need.",
			nodes:  []string{"a: x b", "b: a", "x: y", "y: x"},
			want: []error{
				&graph.CycleError{Path: []graph.ID{"a", "b", "a"}},
				&graph.CycleError{Path: []graph.ID{"x", "y", "x"}},
			},
		},
		"Missing": {
			reason: "S53, S59: each absent need is reported once per node, by author order.",
			nodes:  []string{"a: b ghost &ghost", "b: &spectre"},
			want: []error{
				&graph.MissingError{ID: "a", Need: "ghost"},
				&graph.MissingError{ID: "b", Need: "spectre"},
			},
		},
		"MissingInferredAndDeclared": {
			reason: "An absent need that is inferred as well as declared is still declared.",
			nodes:  []string{"a: ?ghost ghost"},
			want:   []error{&graph.MissingError{ID: "a", Need: "ghost"}},
		},
		"Duplicate": {
			reason: "A repeated ID is reported once.",
			nodes:  []string{"a", "b", "a", "a"},
			want:   []error{&graph.DuplicateError{ID: "a"}},
		},
		"Everything": {
			reason: "Problems of all kinds are found in one call, in a fixed order.",
			nodes:  []string{"a: b", "b: a ghost", "c", "c"},
			want: []error{
				&graph.DuplicateError{ID: "c"},
				&graph.MissingError{ID: "b", Need: "ghost"},
				&graph.CycleError{Path: []graph.ID{"a", "b", "a"}},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g, err := graph.New(parse(tc.nodes...))
			if g != nil {
				t.Errorf("%s\nNew() returned a graph beside its error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, unjoin(err)); diff != "" {
				t.Errorf("%s\nproblems: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// unjoin takes an error of errors.Join apart.
func unjoin(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return nil
}

func TestErrorsSayWhatToLookFor(t *testing.T) {
	long := make([]graph.ID, 0, 1001)
	for i := range 1000 {
		long = append(long, graph.ID(fmt.Sprintf("n%d", i)))
	}
	long = append(long, "n0")
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Cycle": {
			reason: "The message shows the way round.",
			err:    &graph.CycleError{Path: []graph.ID{"a", "b", "a"}},
			want:   "cannot order nodes, they need each other: a -> b -> a",
		},
		"LongCycle": {
			reason: "N27: a huge cycle does not make a huge message.",
			err:    &graph.CycleError{Path: long},
			want: "cannot order nodes, they need each other: n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> n6 -> n7 -> n8 -> n9" +
				" -> (981 more) -> n991 -> n992 -> n993 -> n994 -> n995 -> n996 -> n997 -> n998 -> n999 -> n0",
		},
		"Missing": {
			reason: "The message names both ends.",
			err:    &graph.MissingError{ID: "web", Need: "50%d"},
			want:   `cannot resolve need "50%d" of node "web": no such node`,
		},
		"Duplicate": {
			reason: "The message names the ID, quoted.",
			err:    &graph.DuplicateError{ID: "a\nb"},
			want:   `cannot use node ID "a\nb": more than one node has it`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.err.Error(); got != tc.want {
				t.Errorf("%s\nError() = %s\nwant      %s", tc.reason, got, tc.want)
			}
		})
	}
}
