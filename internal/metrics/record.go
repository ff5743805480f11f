package metrics

import "time"

// What a write of a child object does.
const (
	Create  = "create"
	Apply   = "apply"
	Migrate = "migrate"
	Delete  = "delete"
)

// What came of a write of a child object.
const (
	OK        = "ok"
	Conflict  = "conflict"
	Denied    = "denied"
	Invalid   = "invalid"
	Throttled = "throttled"
	Failed    = "error"
)

// What a write that concerns an owner itself is for.
const (
	Finalizer = "finalizer"
	Status    = "status"
	Inventory = "inventory"
)

// Applied records one write request for a child object. The kind is written
// Kind.group, as schema.GroupKind prints itself: Deployment.apps, ConfigMap.
// Operation and result are the constants of this package.
func (m *Metrics) Applied(kind, operation, result string, took time.Duration) {
	if m == nil {
		return
	}
	m.applies.WithLabelValues(kind, operation, result).Inc()
	m.applyDuration.WithLabelValues(kind, operation).Observe(took.Seconds())
}

// OwnerWrite records a write that concerns an owner itself; what is Finalizer,
// Status or Inventory.
func (m *Metrics) OwnerWrite(ownerKind, what string) {
	if m == nil {
		return
	}
	m.ownerWrites.WithLabelValues(ownerKind, what).Inc()
}

// Compiled records a compilation. The reason is empty when it succeeded, else
// the CamelCase reason of the first finding.
func (m *Metrics) Compiled(ownerKind, reason string, took time.Duration) {
	if m == nil {
		return
	}
	m.compileDuration.WithLabelValues(ownerKind).Observe(took.Seconds())
	if reason != "" {
		m.compileFailures.WithLabelValues(ownerKind, reason).Inc()
	}
}

// CriticalPath records the length of a compiled graph's longest path in nodes.
func (m *Metrics) CriticalPath(ownerKind string, nodes int) {
	if m == nil {
		return
	}
	m.criticalPathNodes.WithLabelValues(ownerKind).Observe(float64(nodes))
}

// RunReady records that a run reached Ready, the given time after the new
// generation was first seen.
func (m *Metrics) RunReady(ownerKind string, took time.Duration) {
	if m == nil {
		return
	}
	m.runDuration.WithLabelValues(ownerKind).Observe(took.Seconds())
}

// TimeToReady records the time from a node's first write in a run to Ready.
func (m *Metrics) TimeToReady(kind string, took time.Duration) {
	if m == nil {
		return
	}
	m.timeToReady.WithLabelValues(kind).Observe(took.Seconds())
}

// Blocked records how long a node waited for its needs before it could act.
func (m *Metrics) Blocked(kind string, took time.Duration) {
	if m == nil {
		return
	}
	m.blocked.WithLabelValues(kind).Observe(took.Seconds())
}

// NodeError records a node's failure by its CamelCase reason.
func (m *Metrics) NodeError(kind, reason string) {
	if m == nil {
		return
	}
	m.nodeErrors.WithLabelValues(kind, reason).Inc()
}

// Judged records a judgement of an object's readiness: the name of the rule
// that decided, and the status it gave.
func (m *Metrics) Judged(rule, status string) {
	if m == nil {
		return
	}
	m.evaluations.WithLabelValues(rule, status).Inc()
}

// Owners sets how many owners' runs are held in memory.
func (m *Metrics) Owners(n int) {
	if m == nil {
		return
	}
	m.owners.Set(float64(n))
}

// InflightWrites adds to the number of writes that wait for their response:
// 1 when one is sent, -1 when it is answered.
func (m *Metrics) InflightWrites(delta int) {
	if m == nil {
		return
	}
	m.inflight.Add(float64(delta))
}

// Stores sets how many watches are open.
func (m *Metrics) Stores(n int) {
	if m == nil {
		return
	}
	m.stores.Set(float64(n))
}

// Objects sets how many objects the caches of all watches hold.
func (m *Metrics) Objects(n int) {
	if m == nil {
		return
	}
	m.objects.Set(float64(n))
}
