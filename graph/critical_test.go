package graph_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/truss-dev/truss/graph"
)

func TestCriticalPathIsTheHeaviest(t *testing.T) {
	cases := map[string]struct {
		reason    string
		nodes     []string
		weights   []int64
		path      string
		remaining []int64
		depth     []int
	}{
		"Empty": {
			reason: "A graph without nodes has no path.",
		},
		"Equal": {
			reason:    "Of equally heavy paths the one listed first is taken.",
			nodes:     []string{"a", "b", "c: b", "d: a", "e: a"},
			weights:   []int64{0, 0, 0, 0, 0},
			path:      "a d",
			remaining: []int64{2, 2, 1, 1, 1},
			depth:     []int{0, 0, 1, 1, 1},
		},
		"WeightBeatsLength": {
			reason:    "A heavy node outweighs a long chain.",
			nodes:     []string{"a", "b: a", "c: b", "slow: a"},
			weights:   []int64{1, 1, 1, 10},
			path:      "a slow",
			remaining: []int64{11, 2, 1, 10},
			depth:     []int{0, 1, 2, 1},
		},
		"NegativeCountsAsOne": {
			reason:    "A weight below 1 counts as 1.",
			nodes:     []string{"a", "b: a"},
			weights:   []int64{-7, 0},
			path:      "a b",
			remaining: []int64{2, 1},
			depth:     []int{0, 1},
		},
		"Saturates": {
			reason:    "Absurd weights do not overflow, and the path still starts at a root.",
			nodes:     []string{"b: a", "a"},
			weights:   []int64{math.MaxInt64, math.MaxInt64},
			path:      "a b",
			remaining: []int64{math.MaxInt64, math.MaxInt64},
			depth:     []int{1, 0},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			nodes := parse(tc.nodes...)
			for i := range nodes {
				nodes[i].Weight = tc.weights[i]
			}
			g, err := graph.New(nodes)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(g, g.CriticalPath()); got != tc.path {
				t.Errorf("%s\nCriticalPath() = %q, want %q", tc.reason, got, tc.path)
			}
			var remaining []int64
			var depth []int
			for i := range g.Len() {
				remaining = append(remaining, g.Remaining(i))
				depth = append(depth, g.Depth(i))
			}
			if diff := cmp.Diff(tc.remaining, remaining); diff != "" {
				t.Errorf("%s\nRemaining: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.depth, depth); diff != "" {
				t.Errorf("%s\nDepth: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
