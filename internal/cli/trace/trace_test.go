package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/internal/cli/trace"
)

func statesOf(t *trace.Trace) map[trace.State]int {
	out := map[trace.State]int{}
	for i := range t.Nodes {
		out[t.Nodes[i].State]++
	}
	return out
}

func TestStatesAreKnownWhereTheStatusIsCut(t *testing.T) {
	cases := []struct {
		reason string
		bundle *v1.Bundle
		want   map[trace.State]int
	}{
		{"what is not listed is Ready", many(t, 3, 997), map[trace.State]int{trace.InProgress: 1, trace.Blocked: 3, trace.Ready: 997}},
		{"of more than 200 that are not Ready those that wait are found by their needs", many(t, 600, 399),
			map[trace.State]int{trace.InProgress: 1, trace.Blocked: 600, trace.Ready: 399}},
		{"all are Ready and none is listed", settled(t, 300), map[trace.State]int{trace.Ready: 300}},
		{"of more than 200 in progress the others cannot be told", crowd(t), map[trace.State]int{trace.InProgress: 200, trace.Unknown: 100}},
	}
	waiting := crowd(t)
	waiting.Spec.Resources = append(waiting.Spec.Resources, resourceOf(t, "late", "", []string{"job-0"}), resourceOf(t, "later", "", []string{"job-299"}))
	waiting.Status.Summary.Total, waiting.Status.Summary.Blocked = 302, 2
	cases = append(cases, struct {
		reason string
		bundle *v1.Bundle
		want   map[trace.State]int
	}{"but what waits for one of those that are listed", waiting, map[trace.State]int{trace.InProgress: 200, trace.Unknown: 101, trace.Blocked: 1}})
	for _, c := range cases {
		if diff := cmp.Diff(c.want, statesOf(traceOf(c.bundle, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

func settled(t *testing.T, count int) *v1.Bundle {
	t.Helper()
	var nodes []node
	for i := range count {
		nodes = append(nodes, node{spec: "setting-" + itoa(i), state: graph.Ready})
	}
	return bundleOf(t, nodes...)
}

func crowd(t *testing.T) *v1.Bundle {
	t.Helper()
	var nodes []node
	for i := range 300 {
		nodes = append(nodes, node{spec: "job-" + itoa(i), state: graph.InProgress})
	}
	return bundleOf(t, nodes...)
}

func TestVerdictSaysWhetherToWait(t *testing.T) {
	ready := bundleOf(t, node{spec: "a", state: graph.Ready})
	stale := ready.DeepCopy()
	stale.Generation = 5
	gone := ready.DeepCopy()
	gone.DeletionTimestamp = &metav1.Time{Time: now()}
	cases := []struct {
		reason string
		bundle *v1.Bundle
		want   trace.Verdict
		state  trace.State
	}{
		{"Ready is done", ready, trace.Succeeded, trace.Ready},
		{"Ready of an older spec is not", stale, trace.Pending, trace.InProgress},
		{"what is being deleted is not Ready", gone, trace.Pending, trace.Deleting},
		{"a terminal error is the end", bundleOf(t, node{spec: "a", state: graph.Error, terminal: true}), trace.Failed, trace.Error},
		{"a retriable error is not", bundleOf(t, node{spec: "a", state: graph.Error}), trace.Pending, trace.Error},
		{"neither is progress", bundleOf(t, node{spec: "a", state: graph.InProgress}), trace.Pending, trace.InProgress},
	}
	for _, c := range cases {
		got := traceOf(c.bundle, nil)
		if got.Verdict() != c.want || got.State != c.state {
			t.Errorf("%s: %v, %s", c.reason, got.Verdict(), got.State)
		}
	}
}

func TestChangesTellWhatIsNew(t *testing.T) {
	b, live := shop(t)
	before := traceOf(b, live)
	done := bundleOf(t,
		node{spec: "web: db cache", object: "Deployment/web", state: graph.InProgress, message: "0 of 1 pods"},
		node{spec: "net", object: "Network/net", state: graph.Ready, message: "another message"},
		node{spec: "db: net", object: "Database/main", state: graph.Ready},
		node{spec: "cache: net", state: graph.Ready},
		node{spec: "dash: web", object: "Dashboard/dash", state: graph.Blocked},
	)
	got := trace.Changes(before, traceOf(done, live), trace.Options{Now: now()})
	want := []string{
		"12:00:00  db  Database/main  Ready",
		"12:00:00  web  Deployment/web  InProgress  0 of 1 pods",
		"12:00:00  Bundle shop/web  InProgress  3/5 ready  web: 0 of 1 pods",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := trace.Changes(before, before, trace.Options{Now: now()}); len(again) != 0 {
		t.Errorf("nothing is new: %q", again)
	}
}

func TestChangesCountWhatSettlesTogether(t *testing.T) {
	before, after := traceOf(many(t, 50, 0), nil), traceOf(many(t, 0, 50), nil)
	got := trace.Changes(before, after, trace.Options{Now: now(), Rows: 100})
	want := []string{"12:00:00  50 Ready", "12:00:00  Bundle shop/web  InProgress  50/51 ready  db: starting"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if all := trace.Changes(before, after, trace.Options{Now: now()}); len(all) != 51 {
		t.Errorf("%d lines with all shown, want 51", len(all))
	}
}

func TestJSONHasAllAndNothingToObey(t *testing.T) {
	var b bytes.Buffer
	if err := hostile(t).WriteJSON(&b, true); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u009b\u202e") || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("%q", b.String())
	}
	var back trace.Trace
	bundle, live := shop(t)
	before := traceOf(bundle, live)
	b.Reset()
	if err := before.WriteJSON(&b, false); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, &back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

// Whatever the graph, each resource stands in the tree exactly once, below one
// that it needs, and no more than what fits is cut.
func TestEachResourceStandsInTheTreeOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		var nodes []node
		for i := range n {
			spec := "node-" + itoa(i) + ":"
			for j := range i {
				if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					spec += " node-" + itoa(j)
				}
			}
			state := rapid.SampledFrom([]graph.State{graph.Blocked, graph.InProgress, graph.Ready, graph.Error}).Draw(t, "state")
			nodes = append(nodes, node{spec: spec, state: state})
		}
		for i := range nodes {
			if name, needs, _ := strings.Cut(nodes[i].spec, ": "); needs == "" {
				nodes[i].spec = strings.TrimSuffix(name, ":")
			}
		}
		found := traceOf(bundleOf(outer(t), nodes...), nil)
		text := strings.Join(found.Lines(trace.Options{Now: now()}), "\n")
		for i := range n {
			if got := strings.Count(text, "ConfigMap/node-"+itoa(i)+" "); got != 1 {
				t.Fatalf("node-%d stands there %d times:\n%s", i, got, text)
			}
		}
		limit := rapid.IntRange(1, n).Draw(t, "limit")
		cut := strings.Join(found.Lines(trace.Options{Now: now(), Rows: limit}), "\n")
		if got := strings.Count(cut, "ConfigMap/"); got > limit {
			t.Fatalf("%d rows where %d are wanted:\n%s", got, limit, cut)
		}
	})
}

// outer lets helpers of tests serve properties.
func outer(t *rapid.T) testing.TB { return failing{t: t} }

type failing struct {
	testing.TB
	t *rapid.T
}

func (f failing) Helper()           { f.t.Helper() }
func (f failing) Fatal(args ...any) { f.t.Fatal(args...) }

func TestSplitFindsEachProblem(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	cases := []struct {
		reason string
		err    error
		want   int
	}{
		{"nothing", nil, 0},
		{"one", a, 1},
		{"joined", errors.Join(a, b), 2},
		{"joined twice", errors.Join(errors.Join(a, b), c), 3},
		{"joined and wrapped", fmt.Errorf("wrapped: %w", errors.Join(a, b)), 2},
		{"wrapped alone", fmt.Errorf("wrapped: %w", a), 1},
	}
	for _, c := range cases {
		if got := trace.Split(c.err); len(got) != c.want {
			t.Errorf("%s: %q", c.reason, got)
		}
	}
}
