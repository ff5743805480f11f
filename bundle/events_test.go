package bundle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
)

func TestResourceEventsComeWithTransitionsOnly(t *testing.T) {
	change := func(from, to graph.State, message string) Change {
		return Change{From: from, NodeReport: NodeReport{Name: "db", State: to, Reason: "Why", Message: message}}
	}
	long := strings.Repeat("x", 5000)
	cases := map[string]struct {
		reason  string
		total   int
		changes []Change
		want    []Event
	}{
		"Started": {
			"Work that starts is an event", 1, []Change{change(graph.Blocked, graph.InProgress, "posted")},
			[]Event{{EventNormal, EventResourceInProgress, "db", "db: posted"}},
		},
		"Ready": {
			"A resource without a message gives its reason", 1, []Change{change(graph.InProgress, graph.Ready, "")},
			[]Event{{EventNormal, EventResourceReady, "db", "db: Why"}},
		},
		"Error": {
			"N27: a message with % is text", 1, []Change{change(graph.InProgress, graph.Error, "100%s %d")},
			[]Event{{EventWarning, EventResourceError, "db", "db: Why: 100%s %d"}},
		},
		"Blocked":  {"Blocked is spam (Smith)", 1, []Change{change(graph.Ready, graph.Blocked, "")}, nil},
		"Excluded": {"What was left out is no news", 1, []Change{change(graph.Ready, graph.Excluded, "")}, nil},
		"Same":     {"Another message alone is no transition", 1, []Change{change(graph.Error, graph.Error, "new")}, nil},
		"Large":    {"In a large Bundle progress is not reported object by object", 201, []Change{change(graph.InProgress, graph.Ready, "")}, nil},
		"LargeFail": {
			"but errors are", 201, []Change{change(graph.InProgress, graph.Error, "")},
			[]Event{{EventWarning, EventResourceError, "db", "db: Why"}},
		},
		"Huge": {
			"N27: messages are cut", 1, []Change{change(graph.InProgress, graph.Error, long)},
			[]Event{{EventWarning, EventResourceError, "db", "db: " + ("Why: " + long)[:maxMessage/2-3] + "..."}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ResourceEvents(tc.total, tc.changes)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBundleEventsComeWhenAConditionTurnsTrue(t *testing.T) {
	status := func(nodes ...NodeReport) *v1.BundleStatus {
		s := Status(nil, Report{Nodes: nodes}, noon)
		return &s
	}
	ready := status(NodeReport{Name: "a", State: graph.Ready})
	working := status(NodeReport{Name: "a", State: graph.InProgress, Message: "m"})
	retriable := status(NodeReport{Name: "a", State: graph.Error, Message: "m"})
	cases := map[string]struct {
		reason     string
		prev, next *v1.BundleStatus
		want       []Event
	}{
		"First":   {"The first status starts", nil, working, []Event{{EventNormal, EventBundleInProgress, "", "a: m"}}},
		"Same":    {"Nothing turned True", working, working, nil},
		"Ready":   {"Work is done", working, ready, []Event{{EventNormal, EventBundleReady, "", "all resources are ready: 1/1"}}},
		"Error":   {"In progress it was before, too", working, retriable, []Event{{EventWarning, EventBundleError, "", `error processing resource(s): ["a"]`}}},
		"Regress": {"A Bundle may leave Ready", ready, working, []Event{{EventNormal, EventBundleInProgress, "", "a: m"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ConditionEvents(tc.prev, tc.next)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
