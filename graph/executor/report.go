package executor

import (
	"time"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// Report says how an owner's graph stands after a reconcile. It is valid
// until the next call for the owner.
type Report struct {
	Owner *resource.Owner
	// Failure is why the owner's graph could not be made; nothing else is set
	// then.
	Failure error
	// NotSynced says that it is not known yet what exists; a wake-up follows.
	NotSynced bool
	// Superseded says that a newer generation is waiting: the states are not
	// final.
	Superseded bool
	Counts     graph.Counts
	// Moved are the nodes whose state changed since the last report.
	Moved []graph.Transition
	// ToDelete are objects of older graphs that are not gone yet, sorted.
	ToDelete []Object
	// RequeueAfter is when to come back without an event; zero for never.
	RequeueAfter time.Duration
	// Begun is when this generation was first seen.
	Begun time.Time

	// Stamp changes whenever a state, reason or message does.
	Stamp uint64

	generation *generation
}

// Len returns the number of nodes.
func (r *Report) Len() int {
	if r.generation == nil {
		return 0
	}
	return r.generation.graph.Len()
}

// NodeStatus is the state of one node, as shown to people.
type NodeStatus struct {
	Name     graph.ID
	Identity resource.Identity
	Version  string
	State    graph.State
	// Terminal errors are not tried again in this generation.
	Terminal bool
	Reason   string
	Message  string
	Since    time.Time
	// BlockedBy are the needs that are not Ready, sorted.
	BlockedBy []graph.ID
}

// Node returns the state of node i, in author order.
func (r *Report) Node(i int) NodeStatus {
	g := r.generation
	n := &g.nodes[i]
	s := NodeStatus{
		Name: g.graph.At(i).ID, Identity: n.def.Identity, Version: n.def.Version, State: g.run.State(i),
	}
	v := n.verdict.Load()
	if s.State == graph.Blocked {
		s.Reason, s.BlockedBy = ReasonDependenciesNotReady, g.run.BlockedBy(i)
		v = n.early
		if v != nil {
			s.State = v.state
		}
	}
	if v == nil {
		if s.State == graph.InProgress {
			s.Reason, s.Message = ReasonQueued, "waits for its turn"
		}
		return s
	}
	s.Terminal, s.Reason, s.Message, s.Since = v.terminal && s.State == graph.Error, v.reason, v.message, v.since
	return s
}

// Early returns how many blocked nodes a dry-run with example values found
// wrong; they count as errors, not as blocked.
func (r *Report) Early() int {
	if r.generation == nil {
		return 0
	}
	count := 0
	for i := range r.generation.nodes {
		if r.generation.nodes[i].early != nil && r.generation.run.State(i) == graph.Blocked {
			count++
		}
	}
	return count
}

// Graph returns the graph that is walked; nil when it could not be made.
func (r *Report) Graph() *resource.Graph {
	if r.generation == nil {
		return nil
	}
	return r.generation.graph
}
