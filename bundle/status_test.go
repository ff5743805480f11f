package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// words prints conditions one per line: "Ready=True Reason: message".
func words(conditions []metav1.Condition) []string {
	out := make([]string, len(conditions))
	for i, c := range conditions {
		out[i] = strings.TrimSuffix(fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message), ": ")
	}
	return out
}

func rowsOf(s v1.BundleStatus) map[string][]string {
	out := map[string][]string{}
	for _, r := range s.ResourceStatuses {
		out[r.Name] = words(r.Conditions)
	}
	return out
}

func TestStatusFollowsSmithsStateMachine(t *testing.T) {
	ready := NodeReport{Name: "ready", State: graph.Ready}
	excluded := NodeReport{Name: "excluded", State: graph.Excluded}
	working := NodeReport{Name: "working", State: graph.InProgress, Reason: "ObservedGenerationStale", Message: "generation 2, observed 1"}
	terminal := NodeReport{Name: "terminal", State: graph.Error, Terminal: true, Reason: "Collision", Message: "exists already"}
	retriable := NodeReport{Name: "retriable", State: graph.Error, Reason: "BlaBla", Message: "Oh no!"}
	blocked := NodeReport{Name: "blocked", State: graph.Blocked, BlockedBy: []graph.ID{"terminal", "retriable", "a"}}

	cases := map[string]struct {
		reason   string
		report   Report
		bundle   []string
		rows     map[string][]string
		message  string
		progress string
	}{
		"Empty": {
			reason: "A Bundle without resources is ready",
			bundle: []string{"InProgress=False Ready", "Ready=True Ready", "Error=False Ready"},
			rows:   map[string][]string{}, progress: "0/0",
		},
		"Ready": {
			reason: "Excluded resources do not hold the Bundle back",
			report: Report{Nodes: []NodeReport{ready, excluded}},
			bundle: []string{"InProgress=False Ready", "Ready=True Ready", "Error=False Ready"},
			rows: map[string][]string{
				"ready":    {"Blocked=False Ready", "InProgress=False Ready", "Ready=True Ready", "Error=False Ready"},
				"excluded": {"Blocked=False Excluded", "InProgress=False Excluded", "Ready=True Excluded", "Error=False Excluded"},
			},
			progress: "2/2",
		},
		"Pruning": {
			reason: "S09: objects that wait for their deletion do not make a ready Bundle unready, but are the message",
			report: Report{Nodes: []NodeReport{ready}, ToDelete: []v1.ObjectToDelete{{Version: "v1", Kind: "ConfigMap", Name: "old"}}},
			bundle: []string{"InProgress=False Ready", "Ready=True Ready", "Error=False Ready"},
			rows: map[string][]string{
				"ready": {"Blocked=False Ready", "InProgress=False Ready", "Ready=True Ready", "Error=False Ready"},
			},
			message: "1 objects that left the Bundle are to be deleted", progress: "1/1",
		},
		"InProgress": {
			reason: "One resource that is awaited makes the Bundle InProgress, and is its message",
			report: Report{Nodes: []NodeReport{ready, working}},
			bundle: []string{"InProgress=True InProgress", "Ready=False InProgress: working: generation 2, observed 1", "Error=False InProgress"},
			rows: map[string][]string{
				"ready":   {"Blocked=False Ready", "InProgress=False Ready", "Ready=True Ready", "Error=False Ready"},
				"working": {"Blocked=False InProgress", "InProgress=True ObservedGenerationStale: generation 2, observed 1", "Ready=False InProgress", "Error=False InProgress"},
			},
			message: "working: generation 2, observed 1", progress: "1/2",
		},
		"Terminal": {
			reason: "S04, S05: a terminal error ends InProgress, names only the resources that failed, and is the message although another comes first",
			report: Report{Nodes: []NodeReport{working, terminal, ready}},
			bundle: []string{
				"InProgress=False Error", "Ready=False Error: terminal: Collision: exists already",
				`Error=True TerminalError: error processing resource(s): ["terminal"]`,
			},
			rows: map[string][]string{
				"working":  {"Blocked=False InProgress", "InProgress=True ObservedGenerationStale: generation 2, observed 1", "Ready=False InProgress", "Error=False InProgress"},
				"terminal": {"Blocked=False Error", "InProgress=False Error", "Ready=False Error", "Error=True TerminalError: Collision: exists already"},
				"ready":    {"Blocked=False Ready", "InProgress=False Ready", "Ready=True Ready", "Error=False Ready"},
			},
			message: "terminal: Collision: exists already", progress: "1/3",
		},
		"Retriable": {
			reason: "S06: one retriable error makes the Bundle's error retriable, and InProgress",
			report: Report{Nodes: []NodeReport{retriable, terminal, blocked}},
			bundle: []string{
				"InProgress=True Error", "Ready=False Error: terminal: Collision: exists already (and 1 more)",
				`Error=True RetriableError: error processing resource(s): ["retriable", "terminal"]`,
			},
			rows: map[string][]string{
				"retriable": {"Blocked=False Error", "InProgress=True RetriableError", "Ready=False Error", "Error=True RetriableError: BlaBla: Oh no!"},
				"terminal":  {"Blocked=False Error", "InProgress=False Error", "Ready=False Error", "Error=True TerminalError: Collision: exists already"},
				"blocked":   {`Blocked=True DependenciesNotReady: Not ready: ["a", "retriable", "terminal"]`, "InProgress=False Blocked", "Ready=False Blocked", "Error=False Blocked"},
			},
			message: "terminal: Collision: exists already (and 1 more)", progress: "0/3",
		},
		"BadReason": {
			reason: "N26: a reason that the API server would refuse does not stop the status",
			report: Report{Nodes: []NodeReport{{Name: "x", State: graph.InProgress, Reason: "no reason!"}}},
			bundle: []string{"InProgress=True InProgress", "Ready=False InProgress: x: no reason!", "Error=False InProgress"},
			rows: map[string][]string{
				"x": {"Blocked=False InProgress", "InProgress=True InProgress", "Ready=False InProgress", "Error=False InProgress"},
			},
			message: "x: no reason!", progress: "0/1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Status(nil, tc.report, noon)
			if diff := cmp.Diff(tc.bundle, words(got.Conditions)); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.rows, rowsOf(got)); diff != "" {
				t.Errorf("%s\nresources (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{tc.message, tc.progress}, []string{got.Message, got.Progress}); diff != "" {
				t.Errorf("%s\nmessage, progress (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStatusOfABundleThatDoesNotCompile(t *testing.T) {
	unknown := []string{"Blocked=Unknown Unknown", "InProgress=Unknown Unknown", "Ready=Unknown Unknown", "Error=Unknown Unknown"}
	mistake := &resource.InvalidError{Reason: ReasonMissingName, Node: "a", Field: "spec.resources[0].x", Message: "no name"}
	cases := map[string]struct {
		reason string
		err    error
		rows   map[string][]string
		error  string
		first  string
	}{
		"Duplicate": {
			reason: "S02: nothing is known of any resource",
			err:    &resource.InvalidError{Reason: ReasonDuplicateResource, Node: "a", Message: "twice"},
			rows:   map[string][]string{"a": unknown, "b": unknown},
			error:  `Error=True TerminalError: DuplicateResource: resource "a": twice`, first: `DuplicateResource: resource "a": twice`,
		},
		"UnknownReference": {
			reason: "S03: the same for a reference to nothing, also beside other mistakes",
			err:    errors.Join(mistake, &resource.InvalidError{Reason: ReasonUnknownReference, Node: "b", Message: "nothing"}),
			rows:   map[string][]string{"a": unknown, "b": unknown},
			error:  "Error=True TerminalError: MissingName: spec.resources[0].x: resource \"a\": no name\nUnknownReference: resource \"b\": nothing",
			first:  `MissingName: spec.resources[0].x: resource "a": no name (and 1 more)`,
		},
		"Mistake": {
			reason: "A mistake of one resource is an error of that one; the others have no state",
			err:    mistake,
			rows: map[string][]string{"b": unknown, "a": {
				"Blocked=False Error", "InProgress=False Error", "Ready=False Error", "Error=True TerminalError: MissingName: spec.resources[0].x: no name",
			}},
			error: `Error=True TerminalError: MissingName: spec.resources[0].x: resource "a": no name`,
			first: `MissingName: spec.resources[0].x: resource "a": no name`,
		},
		"Wrapped": {
			reason: "Context around the error hides none of its parts",
			err:    fmt.Errorf("cannot compile: %w", errors.Join(mistake, &resource.InvalidError{Reason: ReasonCycle, Node: "b", Message: "cycle"})),
			rows:   map[string][]string{"a": unknown, "b": unknown},
			error:  "Error=True TerminalError: MissingName: spec.resources[0].x: resource \"a\": no name\nCycle: resource \"b\": cycle",
			first:  `MissingName: spec.resources[0].x: resource "a": no name (and 1 more)`,
		},
		"Other": {
			reason: "An error that names no resource is about all",
			err:    errors.New("boom"),
			rows:   map[string][]string{"a": unknown, "b": unknown},
			error:  "Error=True TerminalError: boom", first: "boom",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := &v1.Bundle{Spec: v1.BundleSpec{Resources: []v1.Resource{{Name: "a"}, {Name: "b"}}}}
			b.Generation = 7
			got := Status(nil, Refused(b, tc.err), noon)
			want := []string{"InProgress=False Error", "Ready=False Error: " + tc.first, tc.error}
			if diff := cmp.Diff(want, words(got.Conditions)); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.rows, rowsOf(got)); diff != "" {
				t.Errorf("%s\nresources (-want +got):\n%s", tc.reason, diff)
			}
			if got.ObservedGeneration != 7 || got.Progress != "0/2" {
				t.Errorf("%s: generation %d, progress %s", tc.reason, got.ObservedGeneration, got.Progress)
			}
		})
	}
}

func TestTransitionTimesMoveOnlyWithTheStatusOfACondition(t *testing.T) {
	report := Report{
		Nodes:      []NodeReport{{Name: "a", State: graph.InProgress, Message: "one"}},
		Conditions: []metav1.Condition{{Type: "ImpersonationForbidden", Status: metav1.ConditionTrue, Reason: "Forbidden"}},
	}
	first := Status(nil, report, noon)
	report.Nodes[0].Message = "two"
	second := Status(&first, report, noon.Add(time.Hour))
	for i, c := range second.Conditions {
		if !c.LastTransitionTime.Equal(&first.Conditions[i].LastTransitionTime) {
			t.Errorf("another message moved the time of %s", c.Type)
		}
	}
	if got := second.ResourceStatuses[0].Conditions[1]; got.Message != "two" || !got.LastTransitionTime.Time.Equal(noon) {
		t.Errorf("another message of a resource was lost or moved its time: %v", got)
	}
	report.Nodes[0].State = graph.Ready
	third := Status(&second, report, noon.Add(2*time.Hour))
	for i, moved := range []bool{true, true, false, false} {
		if got := third.Conditions[i].LastTransitionTime.Time.Equal(noon.Add(2 * time.Hour)); got != moved {
			t.Errorf("%s: moved %v, want %v", third.Conditions[i].Type, got, moved)
		}
	}
}

func TestSettledReportsGiveEqualStatuses(t *testing.T) {
	report := Report{
		Nodes: []NodeReport{
			{Name: "x", State: graph.Blocked, BlockedBy: []graph.ID{"c", "a", "b"}},
			{Name: "c", State: graph.Error, Message: "1"}, {Name: "a", State: graph.Error, Message: "2"}, {Name: "b", State: graph.InProgress},
		},
		ToDelete: []v1.ObjectToDelete{{Kind: "B"}, {Kind: "A", Name: "b"}, {Kind: "A", Name: "a"}},
	}
	first := Status(nil, report, noon)
	report.Nodes[0].BlockedBy = []graph.ID{"b", "c", "a"}
	report.ToDelete = []v1.ObjectToDelete{report.ToDelete[2], report.ToDelete[0], report.ToDelete[1]}
	again := Status(&first, report, noon.Add(time.Hour))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("N23: an idle sync changes the status (-first +again):\n%s", diff)
	}
}

func TestStatusForgetsResourcesThatLeft(t *testing.T) {
	first := Status(nil, Report{Nodes: []NodeReport{{Name: "gone"}, {Name: "stays"}}}, noon)
	second := Status(&first, Report{Nodes: []NodeReport{{Name: "stays"}}}, noon)
	if len(second.ResourceStatuses) != 1 || second.ResourceStatuses[0].Name != "stays" {
		t.Errorf("N24: a removed resource left its entry: %v", rowsOf(second))
	}
}

func TestStatusStaysWithinItsLimits(t *testing.T) {
	long := strings.Repeat("é\x01%s\"", 2000)
	many := func(n int, state graph.State) []NodeReport {
		out := make([]NodeReport, n)
		for i := range out {
			out[i] = NodeReport{Name: fmt.Sprintf("node-%05d", i), State: state, Message: long, BlockedBy: []graph.ID{graph.ID(long), "b"}}
		}
		return out
	}
	mixed := many(1000, graph.Ready)
	mixed[999].State, mixed[500].State, mixed[0].State = graph.Error, graph.InProgress, graph.Blocked
	toDelete := make([]v1.ObjectToDelete, 20000)
	for i := range toDelete {
		toDelete[i] = v1.ObjectToDelete{Version: "v1", Kind: "ConfigMap", Name: fmt.Sprintf("old-%05d", i)}
	}
	cases := map[string]struct {
		reason   string
		report   Report
		limit    int
		min, max int
	}{
		"AllRows":     {"200 resources are all listed", Report{Nodes: shorten(many(200, graph.Ready))}, maxStatus, 200, 200},
		"OnlyUnready": {"Above 200 only those not ready are listed", Report{Nodes: mixed}, maxStatus, 3, 3},
		"AtMost200":   {"Never more than 200", Report{Nodes: shorten(many(5000, graph.Blocked))}, maxStatus, 200, 200},
		"LongMessages": {
			"N27: long messages are cut, then rows dropped, so that 256 KiB suffice",
			Report{Nodes: many(200, graph.Error)}, maxStatus, 50, 199,
		},
		"ToDelete": {"Objects to delete leave room for rows", Report{Nodes: shorten(many(5000, graph.Error)), ToDelete: toDelete}, maxStatus, 200, 200},
		"BigSpec": {
			"Near the limit of the spec the status shrinks further",
			Report{Nodes: many(200, graph.Error), SpecSize: 1400 << 10}, 73 << 10, 1, 60,
		},
		"HugeSpec": {"Without room no row is listed", Report{Nodes: many(9, graph.Error), SpecSize: 2 << 20, ToDelete: toDelete}, 8 << 10, 0, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Status(nil, tc.report, noon)
			data, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > tc.limit {
				t.Errorf("%s: %d bytes, limit %d", tc.reason, len(data), tc.limit)
			}
			if n := len(got.ResourceStatuses); n < tc.min || n > tc.max {
				t.Errorf("%s: %d rows, want %d to %d", tc.reason, n, tc.min, tc.max)
			}
		})
	}
	got := Status(nil, Report{Nodes: mixed}, noon)
	if order := []string{got.ResourceStatuses[0].Name, got.ResourceStatuses[2].Name}; order[0] != "node-00000" || order[1] != "node-00999" {
		t.Errorf("rows are not in the order of the spec: %v", order)
	}
}

func shorten(nodes []NodeReport) []NodeReport {
	for i := range nodes {
		nodes[i].Message, nodes[i].BlockedBy = "short", []graph.ID{"a"}
	}
	return nodes
}
