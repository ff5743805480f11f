package metrics

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/truss-dev/truss/graph"
)

// everything calls each recording method once.
func everything(m *Metrics) {
	m.NodeStates(Owner{"Bundle.smith.atlassian.com", "ns", "app"}, graph.Counts{Total: 3, Ready: 2, Error: 1})
	m.RunReady("Bundle.smith.atlassian.com", time.Second)
	m.CriticalPath("Bundle.smith.atlassian.com", 3)
	m.Compiled("Bundle.smith.atlassian.com", "Cycle", time.Millisecond)
	m.Applied("ConfigMap", Create, OK, 2*time.Millisecond)
	m.OwnerWrite("Bundle.smith.atlassian.com", Finalizer)
	m.TimeToReady("Deployment.apps", time.Second)
	m.Blocked("Deployment.apps", time.Second)
	m.NodeError("Deployment.apps", "QuotaExceeded")
	m.Judged("Condition", "Ready")
	m.Owners(1)
	m.InflightWrites(1)
	m.Stores(2)
	m.Objects(3)
}

func TestEveryMetricIsRecordedAndWellNamed(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	everything(New(reg))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, f := range families {
		got[f.GetName()] = true
	}
	for _, e := range Catalogue() {
		if !got[e.Name] {
			t.Errorf("%s has no series though every method was called: nothing records it", e.Name)
		}
		if !strings.HasPrefix(e.Name, "truss_") {
			t.Errorf("%s lacks the prefix truss_", e.Name)
		}
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestNilRecordsNothing(t *testing.T) {
	everything(nil)
	var m *Metrics
	m.Forget(Owner{})
}

func TestCompiledCountsFailuresOnly(t *testing.T) {
	m := New(prometheus.NewRegistry())
	m.Compiled("K", "", time.Millisecond)
	if n := testutil.CollectAndCount(m.compileFailures); n != 0 {
		t.Errorf("a compilation that succeeded left %d failure series", n)
	}
	m.Compiled("K", "Cycle", time.Millisecond)
	if got := testutil.ToFloat64(m.compileFailures.WithLabelValues("K", "Cycle")); got != 1 {
		t.Errorf("failures = %v, want 1", got)
	}
}

func TestOwnerSeries(t *testing.T) {
	a, b := Owner{"K.g", "ns", "a"}, Owner{"K.g", "ns", "b"}
	counts := graph.Counts{Total: 6, Blocked: 1, InProgress: 2, Ready: 3}
	cases := map[string]struct {
		reason  string
		options []Option
		act     func(*Metrics)
		want    string
	}{
		"per owner": {
			reason: "each owner has its own five series, set and not added to",
			act: func(m *Metrics) {
				m.NodeStates(a, graph.Counts{Total: 6, Blocked: 6})
				m.NodeStates(a, counts)
			},
			want: `
				truss_graph_nodes{namespace="ns",owner="a",owner_kind="K.g",state="Blocked"} 1
				truss_graph_nodes{namespace="ns",owner="a",owner_kind="K.g",state="Error"} 0
				truss_graph_nodes{namespace="ns",owner="a",owner_kind="K.g",state="Excluded"} 0
				truss_graph_nodes{namespace="ns",owner="a",owner_kind="K.g",state="InProgress"} 2
				truss_graph_nodes{namespace="ns",owner="a",owner_kind="K.g",state="Ready"} 3
			`,
		},
		"forgotten": {
			reason: "series end with their owner; an owner never seen is no error",
			act: func(m *Metrics) {
				m.NodeStates(a, counts)
				m.Forget(a)
				m.Forget(b)
			},
		},
		"added up": {
			reason:  "without owner series the sums stay right through changes and departures",
			options: []Option{WithoutOwnerSeries()},
			act: func(m *Metrics) {
				m.NodeStates(a, graph.Counts{Total: 6, Blocked: 6})
				m.NodeStates(b, graph.Counts{Total: 1, Error: 1})
				m.NodeStates(a, counts)
				m.Forget(b)
				m.NodeStates(b, graph.Counts{Total: 1, Excluded: 1})
			},
			want: `
				truss_graph_nodes{namespace="",owner="",owner_kind="K.g",state="Blocked"} 1
				truss_graph_nodes{namespace="",owner="",owner_kind="K.g",state="Error"} 0
				truss_graph_nodes{namespace="",owner="",owner_kind="K.g",state="Excluded"} 1
				truss_graph_nodes{namespace="",owner="",owner_kind="K.g",state="InProgress"} 2
				truss_graph_nodes{namespace="",owner="",owner_kind="K.g",state="Ready"} 3
			`,
		},
	}
	header := "# HELP truss_graph_nodes Nodes of an owner's graph by state: Blocked, InProgress, Ready, Error or Excluded.\n" +
		"# TYPE truss_graph_nodes gauge\n"
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewRegistry()
			tc.act(New(reg, tc.options...))
			want := ""
			if tc.want != "" {
				want = header + tc.want
			}
			if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "truss_graph_nodes"); err != nil {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

func TestConcurrentOwnersAddUp(t *testing.T) {
	m := New(prometheus.NewRegistry(), WithoutOwnerSeries())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			o := Owner{"K.g", "ns", string(rune('a' + i))}
			for n := range 100 {
				m.NodeStates(o, graph.Counts{Total: n, Ready: n})
			}
		})
	}
	wg.Wait()
	if got := testutil.ToFloat64(m.graphNodes.WithLabelValues("K.g", "", "", "Ready")); got != 8*99 {
		t.Errorf("ready nodes = %v, want %d", got, 8*99)
	}
}
