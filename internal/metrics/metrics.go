package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/truss-dev/truss/graph"
)

// Metrics records what Truss does. Its methods are safe for concurrent use,
// cost O(1), and do nothing on a nil receiver.
type Metrics struct {
	graphNodes        *prometheus.GaugeVec
	runDuration       *prometheus.HistogramVec
	criticalPathNodes *prometheus.HistogramVec
	compileDuration   *prometheus.HistogramVec
	compileFailures   *prometheus.CounterVec

	applyDuration *prometheus.HistogramVec
	applies       *prometheus.CounterVec
	ownerWrites   *prometheus.CounterVec

	timeToReady *prometheus.HistogramVec
	blocked     *prometheus.HistogramVec
	nodeErrors  *prometheus.CounterVec
	evaluations *prometheus.CounterVec

	owners   prometheus.Gauge
	inflight prometheus.Gauge
	stores   prometheus.Gauge
	objects  prometheus.Gauge

	perOwner bool

	mu sync.Mutex
	// last is what NodeStates was last told of each owner.
	last map[Owner]graph.Counts
	// sums adds last up by owner kind.
	sums map[string]graph.Counts
}

// An Option changes what New sets up.
type Option func(*Metrics)

// WithoutOwnerSeries adds truss_graph_nodes up by owner kind and leaves its
// labels namespace and owner empty: five series a kind instead of five an
// owner.
func WithoutOwnerSeries() Option {
	return func(m *Metrics) { m.perOwner = false }
}

// New registers Truss's metrics. It panics if they are registered with reg
// already, which is a mistake of the program and shows when it starts.
func New(reg prometheus.Registerer, options ...Option) *Metrics {
	m := build(&builder{reg: reg})
	for _, o := range options {
		o(m)
	}
	return m
}

func build(b *builder) *Metrics {
	m := &Metrics{perOwner: true, last: map[Owner]graph.Counts{}, sums: map[string]graph.Counts{}}
	m.buildGraph(b)
	m.buildWrites(b)
	m.buildNodes(b)
	m.buildProcess(b)
	return m
}

func (m *Metrics) buildGraph(b *builder) {
	m.graphNodes = b.gauges("truss_graph_nodes",
		"Nodes of an owner's graph by state: Blocked, InProgress, Ready, Error or Excluded.",
		"owner_kind", "namespace", "owner", "state")
	m.runDuration = b.histograms("truss_graph_run_duration_seconds",
		"Time from the first sight of a new generation of an owner to all its nodes being Ready.",
		prometheus.ExponentialBuckets(0.05, 2, 17), "owner_kind")
	m.criticalPathNodes = b.histograms("truss_graph_critical_path_nodes",
		"Length in nodes of the longest path through a compiled graph.",
		prometheus.ExponentialBuckets(1, 2, 12), "owner_kind")
	m.compileDuration = b.histograms("truss_compile_duration_seconds",
		"Time to compile an owner into a graph, failed compilations included.",
		prometheus.ExponentialBuckets(0.0005, 2, 14), "owner_kind")
	m.compileFailures = b.counters("truss_compile_failures_total",
		"Compilations that found an owner in error, by the reason of the first finding.",
		"owner_kind", "reason")
}

func (m *Metrics) buildWrites(b *builder) {
	m.applyDuration = b.histograms("truss_apply_duration_seconds",
		"Time of one write request for a child object: create, apply, migrate (the change of field ownership before the first apply) or delete.",
		prometheus.ExponentialBuckets(0.001, 2, 15), "kind", "operation")
	m.applies = b.counters("truss_applies_total",
		"Write requests for child objects by their result: ok, conflict, denied, invalid, throttled or error.",
		"kind", "operation", "result")
	m.ownerWrites = b.counters("truss_owner_writes_total",
		"Writes that concern an owner itself: its finalizer, its status or its inventory.",
		"owner_kind", "type")
}

func (m *Metrics) buildNodes(b *builder) {
	waits := prometheus.ExponentialBuckets(0.01, 2, 18)
	m.timeToReady = b.histograms("truss_node_time_to_ready_seconds",
		"Time from a node's first write in a run to its being Ready.", waits, "kind")
	m.blocked = b.histograms("truss_node_blocked_seconds",
		"Time that a node of a run waited for its needs before it could act.", waits, "kind")
	m.nodeErrors = b.counters("truss_node_errors_total",
		"Failures of nodes by the reason that their condition shows.", "kind", "reason")
	m.evaluations = b.counters("truss_readiness_evaluations_total",
		"Judgements of an object's readiness by the rule that decided and the status it gave.", "rule", "status")
}

func (m *Metrics) buildProcess(b *builder) {
	m.owners = b.gauge("truss_executor_owners", "Owners whose run is held in memory.")
	m.inflight = b.gauge("truss_executor_inflight_writes", "Write requests for child objects that wait for their response.")
	m.stores = b.gauge("truss_observer_stores", "Watches that are open: one for each kind, account and scope in use.")
	m.objects = b.gauge("truss_observer_objects", "Objects held in the caches of all watches.")
}
