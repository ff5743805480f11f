package executor

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
)

// converge renders the node where its inputs changed and has the writer bring
// the live object to what was rendered. A settled object costs no render.
func (g *generation) converge(ctx context.Context, i int, live *observer.Item) (observer.Item, writer.Conflicts, *verdict) {
	n := &g.nodes[i]
	inputs := g.signature(i)
	if n.rendered && n.inputs == inputs && !n.excluded && live != nil &&
		g.x.writer.Settled(g.owner, n.def.Identity, n.hash, *live, &n.memory) {
		return *live, n.memory.Conflicts, nil
	}
	desired, v := g.render(ctx, i, inputs)
	if v != nil {
		return observer.Item{}, nil, v
	}
	out, f := g.x.writer.Ensure(ctx, &writer.Request{
		Owner: g.owner, Desired: desired, Mapping: n.mapping, Client: g.client,
		Live: live, Known: n.seen || n.recorded || g.recordedBefore, Recorder: n.store, Memory: &n.memory,
		BeforeCreate: func(ctx context.Context) error { return g.recorded(ctx, n.def.Identity.GroupKind()) },
	})
	if out.Wrote {
		g.writes.Add(1)
		n.seen = true
	}
	if out.Created {
		n.createdAt = g.x.now()
	}
	if f != nil {
		return out.Live, nil, g.obstacle(i, f)
	}
	n.failing, n.failures = "", 0
	return out.Live, out.Conflicts, nil
}

// obstacle turns a failed write into a verdict. An object in the way that is
// not this owner's own is watched by name, so that its departure wakes the
// node: the watch of our children tells its owner alone, and nobody when the
// answer to a DELETE told it before.
func (g *generation) obstacle(i int, f *writer.Failure) *verdict {
	n := &g.nodes[i]
	inTheWay := f.Reason == writer.ReasonCollision || f.Reason == writer.ReasonAdoptionRefused || f.Reason == writer.ReasonTerminating
	item, presence := n.store.Get(n.def.Identity.Namespace, n.def.Identity.Name)
	own := presence == observer.Present && item.Object.GetLabels()[resource.OwnerLabel] == string(g.owner.UID)
	if inTheWay && !own {
		n.blocker = g.watchNamed(i, n.def.Identity, n.mapping.Resource)
		n.blockerIs = ""
	}
	return n.of(f)
}

// stillInTheWay says whether the foreign object that holds our name is the
// one that was refused before: then nothing needs to be asked again.
func (n *node) stillInTheWay() *verdict {
	if n.blocker == nil {
		return nil
	}
	item, presence := n.blocker.Get(n.def.Identity.Namespace, n.def.Identity.Name)
	is := ""
	switch presence {
	case observer.Present:
		is = string(item.Object.GetUID())
		if c := metav1.GetControllerOf(item.Object); c != nil {
			is += "/" + string(c.UID)
		}
	case observer.Unknown:
		is = n.blockerIs
	case observer.Absent:
	}
	same := n.blockerIs == "" || is == n.blockerIs
	if n.blockerIs = is; presence == observer.Absent || !same {
		n.blocker = nil
		return nil
	}
	again := *n.verdict.Load()
	return &again
}

// render gives the desired object. Errors that the inputs may mend wait for
// them; all others end this generation of the node.
func (g *generation) render(ctx context.Context, i int, signature uint64) (*writer.Desired, *verdict) {
	n := &g.nodes[i]
	rendered, err := n.def.Render(ctx, inputs{g, i})
	if err != nil {
		return nil, n.renderFailed(err)
	}
	n.excluded = rendered.Excluded
	if rendered.Excluded {
		n.rendered, n.inputs, n.hash = true, signature, ""
		return nil, &verdict{state: graph.Excluded, reason: ReasonExcluded, message: "the template rendered nothing"}
	}
	if f := writer.CheckSecretData(rendered); f != nil {
		return nil, n.of(f)
	}
	desired, err := writer.Prepare(g.owner, n.def.Identity, rendered.Object, g.needReferences(i))
	if err != nil {
		return nil, n.of(writer.Classify(n.def.Identity, err))
	}
	desired.SecretData = rendered.SecretData
	n.rendered, n.inputs, n.hash = true, signature, desired.Hash
	return desired, nil
}

func (n *node) renderFailed(err error) *verdict {
	if wait, ok := errors.AsType[*resource.WaitError](err); ok {
		return waiting(ReasonWaitsForValue, wait.Message)
	}
	if invalid, ok := errors.AsType[*resource.InvalidError](err); ok {
		return failed(invalid.Reason, invalid.Error())
	}
	if f := writer.Classify(n.def.Identity, err); f.Err != nil && writer.FromAPI(err) {
		return n.of(f)
	}
	return failed(ReasonRenderFailed, err.Error())
}
