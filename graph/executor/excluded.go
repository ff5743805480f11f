package executor

import (
	"context"
	"fmt"
	"slices"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/executor/writer"
)

// leave publishes that a node has no object, and deletes the object that it
// had as soon as every dependant was rendered without it. The node stays
// Excluded all the while: dependants see it as absent and are not blocked.
func (g *generation) leave(ctx context.Context, i int, live *observer.Item, v *verdict) (*verdict, bool) {
	n := &g.nodes[i]
	changed := g.exclude(i)
	if live == nil && !n.seen {
		g.left(i)
		return v, changed
	}
	n.leaving.Store(true) // before looking at the dependants, which look at it after they were rendered
	if user, used := g.stillUsed(i); used {
		v.message = fmt.Sprintf("the template rendered nothing: the object goes once %q was rendered without it", user)
		return v, changed
	}
	if live != nil && live.Object.GetDeletionTimestamp() != nil {
		v.message = fmt.Sprintf("the template rendered nothing: waits until the object is gone, which has the finalizers %q", live.Object.GetFinalizers())
		return v, changed
	}
	g.takeDown(ctx, i, v)
	return v, changed
}

// left notes that nothing is left of an excluded node.
func (g *generation) left(i int) {
	n := &g.nodes[i]
	n.seen, n.memory = false, writer.Memory{}
	n.used.Store(n.inputs)
	n.leaving.Store(false)
}

// stillUsed names the first dependant that was not brought up to date with
// what its needs are now. One that is excluded itself is, once it is gone.
func (g *generation) stillUsed(i int) (user graph.ID, used bool) {
	for _, d := range g.graph.Dependants(i) {
		if g.nodes[d].used.Load() != g.signature(int(d)) {
			return g.graph.At(int(d)).ID, true
		}
	}
	return "", false
}

// takeDown deletes the object, and says in the verdict what came of it.
func (g *generation) takeDown(ctx context.Context, i int, v *verdict) {
	n := &g.nodes[i]
	own, err := g.x.cluster.Client(cluster.Account{})
	if err != nil {
		v.message, v.retry = err.Error(), retryMax
		return
	}
	out, f := g.x.writer.Delete(ctx, &writer.Removal{
		Owner: g.owner, Client: g.client, Own: own, Recorder: n.store,
		Entry: &inventory.Entry{Identity: n.def.Identity, Version: n.def.Version, Resource: n.mapping.Resource.Resource},
	})
	g.writes.Add(1)
	switch {
	case f != nil:
		failed := n.of(f)
		v.reason, v.message, v.retry = failed.reason, failed.message, failed.retry
		if f.Class == writer.Terminal {
			v.retry = slowRetryMax
		}
	case out.Gone:
		g.left(i)
	default:
		v.message, v.retry = out.Message, out.After
		if _, presence := n.store.Get(n.def.Identity.Namespace, n.def.Identity.Name); v.retry == 0 && presence != observer.Present {
			v.retry = kindRetryMax // nobody tells us when it is gone
		}
	}
}

// freeNeeds has the excluded needs of a node that was looked at look whether
// their objects may go now.
func (g *generation) freeNeeds(i int) {
	for _, n := range g.graph.Needs(i) {
		if g.nodes[n].leaving.Load() {
			g.run.Touch(int(n))
		}
	}
}

// leaving lists the objects of excluded nodes that are not gone yet.
func (g *generation) leaving() []Object {
	if g.run.Counts().Excluded == 0 {
		return nil
	}
	var out []Object
	for i := range g.nodes {
		if n := &g.nodes[i]; n.leaving.Load() {
			out = append(out, Object{n.def.Identity, n.def.Version})
		}
	}
	slices.SortFunc(out, func(a, b Object) int { return a.Compare(b.Identity) })
	return out
}
