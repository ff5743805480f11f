package metrics

import "github.com/truss-dev/truss/graph"

// An Owner names the object that a graph was compiled from.
type Owner struct {
	// Kind is written Kind.group: Bundle.smith.atlassian.com.
	Kind      string
	Namespace string
	Name      string
}

// states lists the states of a count in the order of the life of a node.
func states(c graph.Counts) [5]struct {
	state string
	nodes int
} {
	return [5]struct {
		state string
		nodes int
	}{
		{graph.Blocked.String(), c.Blocked},
		{graph.InProgress.String(), c.InProgress},
		{graph.Ready.String(), c.Ready},
		{graph.Error.String(), c.Error},
		{graph.Excluded.String(), c.Excluded},
	}
}

// NodeStates sets how many nodes of the owner's graph are in each state.
func (m *Metrics) NodeStates(o Owner, c graph.Counts) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	previous := m.last[o]
	m.last[o] = c
	if m.perOwner {
		m.set(o, c)
		return
	}
	m.sums[o.Kind] = plus(m.sums[o.Kind], c, previous)
	m.set(Owner{Kind: o.Kind}, m.sums[o.Kind])
}

// Forget ends the series of an owner that is gone.
func (m *Metrics) Forget(o Owner) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	previous, ok := m.last[o]
	if !ok {
		return
	}
	delete(m.last, o)
	if m.perOwner {
		for _, s := range states(graph.Counts{}) {
			m.graphNodes.DeleteLabelValues(o.Kind, o.Namespace, o.Name, s.state)
		}
		return
	}
	m.sums[o.Kind] = plus(m.sums[o.Kind], graph.Counts{}, previous)
	m.set(Owner{Kind: o.Kind}, m.sums[o.Kind])
}

func (m *Metrics) set(o Owner, c graph.Counts) {
	for _, s := range states(c) {
		m.graphNodes.WithLabelValues(o.Kind, o.Namespace, o.Name, s.state).Set(float64(s.nodes))
	}
}

// plus returns sum with added counted in and removed counted out.
func plus(sum, added, removed graph.Counts) graph.Counts {
	return graph.Counts{
		Total:      sum.Total + added.Total - removed.Total,
		Blocked:    sum.Blocked + added.Blocked - removed.Blocked,
		InProgress: sum.InProgress + added.InProgress - removed.InProgress,
		Ready:      sum.Ready + added.Ready - removed.Ready,
		Error:      sum.Error + added.Error - removed.Error,
		Excluded:   sum.Excluded + added.Excluded - removed.Excluded,
	}
}
