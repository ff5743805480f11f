package executor

import (
	"context"
	"time"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/readiness"
)

// noTime disarms timers and marks times that were not taken.
var noTime time.Time

// judge evaluates readiness and publishes what dependants may read.
func (g *generation) judge(ctx context.Context, i int, item observer.Item, rules *readiness.Rules, conflicts writer.Conflicts) (*verdict, bool) {
	n := &g.nodes[i]
	rel, err := g.observe(ctx, i, item, rules)
	if err != nil {
		return n.of(writer.Classify(n.def.Identity, err)), false
	}
	result := g.x.evaluator.Evaluate(item.Object, rules, rel)
	g.x.metrics.Judged(result.Reason, result.Status.String())
	switch {
	case result.Broken:
		return failed(result.Reason, result.Message), false
	case result.Status == readiness.Failed:
		return &verdict{state: graph.Error, reason: result.Reason, message: result.Message}, false
	case result.Status == readiness.InProgress:
		return waiting(result.Reason, result.Message), false
	}
	n.failing, n.failures = "", 0
	n.related.output = result.Output
	v := &verdict{state: graph.Ready, reason: result.Reason, message: result.Message}
	if len(conflicts) > 0 {
		v.reason, v.message = writer.ReasonFieldConflict, conflicts.String()
	}
	return v, g.publish(i, item, &n.related)
}

// exclude publishes that a node has no object.
func (g *generation) exclude(i int) (changed bool) {
	n := &g.nodes[i]
	if was := n.published.Load(); was != nil && was.object == nil {
		return false
	}
	n.published.Store(&published{serial: g.serial.Add(1)})
	return true
}

// conclude records a verdict for people, metrics and timers.
func (g *generation) conclude(i int, v *verdict) {
	n := &g.nodes[i]
	now := g.x.now()
	v.since = now
	was := n.verdict.Load()
	if was != nil && was.state == v.state && was.reason == v.reason {
		v.since = was.since
	}
	n.verdict.Store(v)
	if was == nil || was.state != v.state || was.reason != v.reason || was.message != v.message {
		g.stamp.Add(1)
	}
	if was == nil && len(g.graph.Needs(i)) > 0 {
		g.x.metrics.Blocked(n.kindLabel(), now.Sub(g.begun))
	}
	if was == nil || was.state != v.state {
		g.entered(n, v)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.retry == 0 {
		g.timers.set(i, noTime)
		return
	}
	at := now.Add(v.retry)
	if armed, ok := g.timers.at(i); ok && was != nil && was.reason == v.reason && armed.Before(at) {
		at = armed // an event woke the node before its time, which puts nothing off
	}
	g.timers.set(i, at)
}

func (g *generation) entered(n *node, v *verdict) {
	kind := n.kindLabel()
	if v.state == graph.Error {
		g.x.metrics.NodeError(kind, v.reason)
	}
	if v.state == graph.Ready && !n.createdAt.IsZero() {
		g.x.metrics.TimeToReady(kind, v.since.Sub(n.createdAt))
		n.createdAt = noTime
	}
}
