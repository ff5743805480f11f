package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/truss-dev/truss/graph"
)

// A play is a Run with its graph, driven by a script of steps:
//
//	next a        Next gives a
//	none          Next gives nothing
//	ready a       Set Ready; also progress, fail, exclude, block
//	changed a     Set Ready with Changed
//	touch a, resync, supersede
type play struct {
	graph *graph.Graph[string]
	run   *graph.Run
}

// outcomes are what the words of a script set.
var outcomes = map[string]graph.Outcome{
	"ready":    {State: graph.Ready},
	"changed":  {State: graph.Ready, Changed: true},
	"progress": {State: graph.InProgress},
	"fail":     {State: graph.Error, Terminal: true},
	"exclude":  {State: graph.Excluded},
	"block":    {State: graph.Blocked},
}

// do performs one step and returns what is wrong about it.
func (p play) do(step string) error {
	word, id, _ := strings.Cut(step, " ")
	i, _ := p.graph.Index(graph.ID(id))
	switch word {
	case "next", "none":
		return p.next(id)
	case "touch":
		p.run.Touch(i)
	case "resync":
		p.run.TouchAll()
	case "supersede":
		p.run.Supersede()
	default:
		o, ok := outcomes[word]
		if !ok {
			return fmt.Errorf("unknown step %q", step)
		}
		p.run.Set(i, o)
	}
	return nil
}

// next checks that Next gives the node named want, nothing when that is empty.
func (p play) next(want string) error {
	i, ok := p.run.Next()
	got := ""
	if ok {
		got = string(p.graph.At(i).ID)
	}
	if got != want {
		return fmt.Errorf("Next() = %q, want %q", got, want)
	}
	return nil
}

// states spells the states out: "a=Ready b=Blocked".
func (p play) states() string {
	words := make([]string, p.graph.Len())
	for i := range words {
		words[i] = fmt.Sprintf("%s=%v", p.graph.At(i).ID, p.run.State(i))
	}
	return strings.Join(words, " ")
}

// perform runs a whole script on a new Run.
func perform(t *testing.T, nodes, steps []string) play {
	t.Helper()
	p := play{graph: mustNew(t, nodes...)}
	p.run = graph.NewRun(p.graph)
	for k, step := range steps {
		if err := p.do(step); err != nil {
			t.Fatalf("step %d %q: %v", k, step, err)
		}
	}
	return p
}

func TestRunGivesOutWhatMayAct(t *testing.T) {
	cases := map[string]struct {
		reason string
		nodes  []string
		steps  []string
		want   string
	}{
		"Start": {
			reason: "At first only nodes without needs may act, by the author's order.",
			nodes:  []string{"a", "b: a", "c"},
			steps:  []string{"next a", "next c", "none"},
			want:   "a=InProgress b=Blocked c=InProgress",
		},
		"LongestFirst": {
			reason: "The node with the longest path behind it goes first.",
			nodes:  []string{"a", "b", "c: b", "d: c"},
			steps:  []string{"next b", "ready b", "next c", "ready c", "next a", "next d", "none"},
			want:   "a=InProgress b=Ready c=Ready d=InProgress",
		},
		"AllNeeds": {
			reason: "A node waits for all of its needs.",
			nodes:  []string{"a", "b", "c: a b"},
			steps:  []string{"next a", "next b", "ready a", "none", "ready b", "next c"},
			want:   "a=Ready b=Ready c=InProgress",
		},
		"ExcludedReleases": {
			reason: "An Excluded need does not block.",
			nodes:  []string{"a", "b: a"},
			steps:  []string{"next a", "exclude a", "next b", "ready b", "none"},
			want:   "a=Excluded b=Ready",
		},
		"FailureIsLocal": {
			reason: "A failure blocks only its dependants; other branches go on.",
			nodes:  []string{"a", "b: a", "x", "y: x"},
			steps:  []string{"next a", "fail a", "next x", "ready x", "next y", "ready y", "none"},
			want:   "a=Error b=Blocked x=Ready y=Ready",
		},
		"TouchRetries": {
			reason: "A waiting or failed node acts again when it is touched, and not before.",
			nodes:  []string{"a", "b"},
			steps:  []string{"next a", "next b", "progress a", "fail b", "none", "touch a", "touch b", "next a", "next b"},
			want:   "a=InProgress b=Error",
		},
		"TouchInFlight": {
			reason: "A node touched in flight acts again after Set, and keeps what it reported.",
			nodes:  []string{"a", "b: a"},
			steps:  []string{"next a", "touch a", "touch a", "none", "ready a", "next a", "next b", "none"},
			want:   "a=Ready b=InProgress",
		},
		"TouchBlocked": {
			reason: "A touch of a Blocked node is remembered, once.",
			nodes:  []string{"a", "b: a"},
			steps:  []string{"touch b", "next a", "none", "ready a", "next b", "ready b", "none"},
			want:   "a=Ready b=Ready",
		},
		"ChangedSpreads": {
			reason: "A change of a Ready node makes its dependants act again, and only them.",
			nodes:  []string{"a", "b: a", "c: b"},
			steps: []string{
				"next a", "ready a", "next b", "ready b", "next c", "ready c",
				"touch a", "next a", "changed a", "next b", "none", "ready b", "none",
			},
			want: "a=Ready b=Ready c=Ready",
		},
		"UnchangedStops": {
			reason: "A Ready node that acted without a change wakes nobody.",
			nodes:  []string{"a", "b: a"},
			steps:  []string{"next a", "ready a", "next b", "ready b", "touch a", "next a", "ready a", "none"},
			want:   "a=Ready b=Ready",
		},
		"ReadyToExcluded": {
			reason: "Dependants act again when a need turns from Ready to Excluded, and back.",
			nodes:  []string{"a", "b: a"},
			steps: []string{
				"next a", "ready a", "next b", "ready b",
				"exclude a", "next b", "ready b", "none", "ready a", "next b", "ready b", "none",
			},
			want: "a=Ready b=Ready",
		},
		"LeavingReadyCascades": {
			reason: "A need that stops being Ready blocks its dependants and theirs.",
			nodes:  []string{"a", "b: a", "c: b", "d: c", "x"},
			steps: []string{
				"next a", "ready a", "next b", "ready b", "next c", "ready c", "next d", "ready d",
				"next x", "ready x", "progress a", "none",
			},
			want: "a=InProgress b=Blocked c=Blocked d=Blocked x=Ready",
		},
		"UnblockedActsAgain": {
			reason: "N19: unblocked nodes act again, one after the other, before they release others.",
			nodes:  []string{"a", "b: a", "c: b"},
			steps: []string{
				"next a", "ready a", "next b", "ready b", "next c", "ready c",
				"fail a", "ready a", "next b", "none", "ready b", "next c", "none",
			},
			want: "a=Ready b=Ready c=InProgress",
		},
		"BlockedTwice": {
			reason: "A node with two unready needs stays Blocked until both are back.",
			nodes:  []string{"a", "b", "c: a b"},
			steps: []string{
				"ready a", "ready b", "ready c", "fail a", "fail b", "ready a",
			},
			want: "a=Ready b=Error c=Blocked",
		},
		"QueuedThenBlocked": {
			reason: "A node that waited to act is taken back when a need stops being Ready.",
			nodes:  []string{"a", "b: a"},
			steps:  []string{"next a", "ready a", "progress a", "none"},
			want:   "a=InProgress b=Blocked",
		},
		"BlockedInFlight": {
			reason: "What a node reports after a need stopped being Ready does not count.",
			nodes:  []string{"a", "b: a", "c: b"},
			steps:  []string{"next a", "ready a", "next b", "fail a", "ready b", "none"},
			want:   "a=Error b=Blocked c=Blocked",
		},
		"BlockedAndBackInFlight": {
			reason: "What a flight reports that began before the need came back does not count either.",
			nodes:  []string{"a", "b: a", "c: b"},
			steps:  []string{"next a", "ready a", "next b", "fail a", "ready a", "none", "ready b", "next b", "none"},
			want:   "a=Ready b=InProgress c=Blocked",
		},
		"NextFlightCounts": {
			reason: "The flight after an interrupted one counts.",
			nodes:  []string{"a", "b: a", "c: b"},
			steps: []string{
				"next a", "ready a", "next b", "fail a", "ready a", "ready b", "next b", "ready b", "next c",
			},
			want: "a=Ready b=Ready c=InProgress",
		},
		"RecordedWithoutFlight": {
			reason: "Set outside a flight only records: the node is still to act.",
			nodes:  []string{"a", "b: a"},
			steps:  []string{"ready a", "next a", "next b", "none"},
			want:   "a=Ready b=InProgress",
		},
		"RecordedWhileBlocked": {
			reason: "An outcome recorded for a Blocked node does not count when it is unblocked.",
			nodes:  []string{"a", "b: a", "c: b"},
			steps:  []string{"ready b", "ready a", "next a", "next b"},
			want:   "a=Ready b=InProgress c=Blocked",
		},
		"NobodyReportsBlocked": {
			reason: "A node cannot be Blocked by its own report.",
			nodes:  []string{"a"},
			steps:  []string{"next a", "block a", "none"},
			want:   "a=InProgress",
		},
		"Resync": {
			reason: "A resync makes every node act again and blocks nobody.",
			nodes:  []string{"a", "b: a"},
			steps:  []string{"next a", "ready a", "next b", "ready b", "none", "resync", "next a", "next b", "none"},
			want:   "a=Ready b=Ready",
		},
		"Superseded": {
			reason: "A superseded run gives out nothing more but still records.",
			nodes:  []string{"a", "b: a"},
			steps:  []string{"next a", "supersede", "none", "ready a", "none", "resync", "none"},
			want:   "a=Ready b=InProgress",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := perform(t, tc.nodes, tc.steps)
			if got := p.states(); got != tc.want {
				t.Errorf("%s\nstates: %s\nwant:   %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestBlockedByNamesWhatIsMissingSorted(t *testing.T) {
	nodes := []string{"z", "m", "a", "ok", "gone", "w: z ok m gone a"}
	p := perform(t, nodes, []string{"ready ok", "exclude gone", "fail m", "progress a"})
	w, _ := p.graph.Index("w")
	if diff := cmp.Diff([]graph.ID{"a", "m", "z"}, p.run.BlockedBy(w)); diff != "" {
		t.Errorf("BlockedBy(w): -want, +got:\n%s", diff)
	}
	for _, step := range []string{"ready a", "ready m", "ready z"} {
		if err := p.do(step); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.run.BlockedBy(w); len(got) != 0 {
		t.Errorf("BlockedBy(w) = %v with all needs met, want none", got)
	}
}

func TestCountsFollowStates(t *testing.T) {
	nodes := []string{"a", "b: a", "c", "d", "e"}
	p := perform(t, nodes, []string{"next a", "progress a", "ready c", "fail d", "exclude e"})
	want := graph.Counts{Total: 5, Blocked: 1, InProgress: 1, Ready: 1, Error: 1, Excluded: 1}
	if diff := cmp.Diff(want, p.run.Counts()); diff != "" {
		t.Errorf("Counts(): -want, +got:\n%s", diff)
	}
	if p.run.Counts().Done() {
		t.Error("Done() with a Blocked node")
	}
	for _, step := range []string{"ready a", "ready b", "exclude d"} {
		if err := p.do(step); err != nil {
			t.Fatal(err)
		}
	}
	if !p.run.Counts().Done() {
		t.Errorf("Done() is false with %+v", p.run.Counts())
	}
}

func TestOutcomeIsKeptWhileBlocked(t *testing.T) {
	p := perform(t, []string{"a", "b: a"}, nil)
	if got := p.run.Outcome(1); got != (graph.Outcome{}) {
		t.Errorf("Outcome(b) = %+v before anything was set", got)
	}
	p = perform(t, []string{"a", "b: a"}, []string{"next a", "ready a", "next b", "fail b", "progress a"})
	want := graph.Outcome{State: graph.Error, Terminal: true}
	if got := p.run.Outcome(1); got != want {
		t.Errorf("Outcome(b) = %+v, want %+v", got, want)
	}
	if got := p.run.State(1); got != graph.Blocked {
		t.Errorf("State(b) = %v, want Blocked", got)
	}
}

func TestPendingUntilNothingCanAct(t *testing.T) {
	cases := map[string]struct {
		reason  string
		steps   []string
		pending bool
		flying  int
	}{
		"Start":      {reason: "A new run has something to do.", pending: true},
		"InFlight":   {reason: "A node in flight is pending.", steps: []string{"next a"}, pending: true, flying: 1},
		"Waiting":    {reason: "A node that waits for an event is not.", steps: []string{"next a", "progress a"}},
		"Released":   {reason: "A released dependant is.", steps: []string{"next a", "ready a"}, pending: true},
		"Settled":    {reason: "A settled run is not.", steps: []string{"next a", "ready a", "next b", "ready b"}},
		"Superseded": {reason: "What a superseded run has queued is not.", steps: []string{"supersede"}},
		"Awaited": {
			reason: "What a superseded run has in flight is.",
			steps:  []string{"next a", "supersede"}, pending: true, flying: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := perform(t, []string{"a", "b: a"}, tc.steps)
			if got := p.run.Pending(); got != tc.pending {
				t.Errorf("%s\nPending() = %t, want %t", tc.reason, got, tc.pending)
			}
			if got := p.run.InFlight(); got != tc.flying {
				t.Errorf("%s\nInFlight() = %d, want %d", tc.reason, got, tc.flying)
			}
			if got, want := p.run.Superseded(), slices.Contains(tc.steps, "supersede"); got != want {
				t.Errorf("%s\nSuperseded() = %t, want %t", tc.reason, got, want)
			}
		})
	}
}

func TestDrainReportsNetChanges(t *testing.T) {
	p := perform(t, []string{"a", "b: a", "c: b"}, nil)
	drain := func(reason string, want []graph.Transition, steps ...string) {
		t.Helper()
		for _, step := range steps {
			if err := p.do(step); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, p.run.Drain()); diff != "" {
			t.Errorf("%s\nDrain(): -want, +got:\n%s", reason, diff)
		}
	}
	drain("A new run has no changes.", nil)
	drain("Changes come in the order in which they happened.", []graph.Transition{
		{Index: 0, From: graph.InProgress, To: graph.Ready},
		{Index: 1, From: graph.Blocked, To: graph.InProgress},
	}, "ready a")
	drain("Steps between are left out.", []graph.Transition{
		{Index: 1, From: graph.InProgress, To: graph.Ready},
		{Index: 2, From: graph.Blocked, To: graph.Ready},
	}, "fail b", "ready b", "ready c")
	drain("Who is back where it was is left out.", nil, "fail c", "ready c")
	drain("A cascade is reported node by node.", []graph.Transition{
		{Index: 0, From: graph.Ready, To: graph.Error},
		{Index: 1, From: graph.Ready, To: graph.Blocked},
		{Index: 2, From: graph.Ready, To: graph.Blocked},
	}, "fail a")
	drain("Nothing is reported twice.", nil)
}
