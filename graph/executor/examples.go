package executor

import (
	"context"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/writer"
)

// ReasonExampleRefused is given when a resource with example values would not
// be accepted by the API server.
const ReasonExampleRefused = "ExampleRefused"

// examplesPerTurn bounds the dry-runs of one turn of an owner.
const examplesPerTurn = 32

// checkExamples renders the nodes that wait for their needs with example
// values and asks the API server, once per graph and after real writes, what
// it thinks of them: an author learns of a mistake before the first need
// exists. Only refusals of the object itself count; all else is left to the
// real write.
//
// A turn checks a few and reports whether more are left.
func (g *generation) checkExamples(ctx context.Context) (more bool) {
	checked := 0
	for ; g.examples < len(g.nodes); g.examples++ {
		n := &g.nodes[g.examples]
		if n.def.Example == nil || g.run.State(g.examples) != graph.Blocked {
			continue
		}
		if checked == examplesPerTurn || g.run.Superseded() || ctx.Err() != nil {
			return !g.run.Superseded()
		}
		checked++
		if n.early = g.checkExample(ctx, g.examples); n.early != nil {
			g.stamp.Add(1)
		}
	}
	return false
}

func (g *generation) checkExample(ctx context.Context, i int) *verdict {
	n := &g.nodes[i]
	rendered, err := n.def.Example(ctx, inputs{g, i})
	if err != nil {
		return failed(ReasonExampleRefused, "with its example values: "+err.Error())
	}
	if rendered.Excluded {
		return nil
	}
	info, err := g.x.kinds.Rules(ctx, n.def.Identity.GroupKind(), n.def.Version)
	if err != nil {
		return nil // the kind may come
	}
	desired, err := writer.Prepare(g.owner, n.def.Identity, rendered.Object, nil)
	if err != nil {
		return failed(ReasonExampleRefused, err.Error())
	}
	f := g.x.writer.DryRun(ctx, &writer.Request{Owner: g.owner, Desired: desired, Mapping: info.Mapping, Client: g.client})
	if f == nil || f.Class != writer.Terminal || f.Reason == writer.ReasonImmutableField {
		return nil
	}
	return failed(ReasonExampleRefused, "with its example values: "+f.Message)
}
