package executor

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/executor/writer"
)

// Reasons of verdicts that no write and no readiness rule decided.
const (
	ReasonWatchForbidden       = "WatchForbidden"
	ReasonWatchFailed          = "WatchFailed"
	ReasonQueued               = "Queued"
	ReasonNotSynced            = "NotSynced"
	ReasonSupportDisabled      = "SupportDisabled"
	ReasonWaitsForValue        = "WaitsForValue"
	ReasonRenderFailed         = "RenderFailed"
	ReasonExcluded             = "Excluded"
	ReasonDependenciesNotReady = "DependenciesNotReady"
)

// process brings one node forward and says how it stands. It is called by
// the drain for nodes whose needs are all Ready or Excluded.
func (g *generation) process(ctx context.Context, i int) graph.Outcome {
	v, changed := guarded(g.x.log, g.nodes[i].def.Identity, func() (*verdict, bool) { return g.step(ctx, i) })
	g.conclude(i, v)
	g.freeNeeds(i)
	return graph.Outcome{State: v.state, Terminal: v.terminal, Changed: changed}
}

// step is one look at a node: kind, live object, desired object, write,
// readiness. The first stage that has something to wait for ends it.
func (g *generation) step(ctx context.Context, i int) (v *verdict, changed bool) {
	n := &g.nodes[i]
	info, v := g.kind(ctx, n)
	if v != nil {
		return v, false
	}
	if v := n.stillInTheWay(); v != nil {
		return v, false
	}
	live, v := g.locate(n)
	if v != nil {
		return v, false
	}
	item, conflicts, v := g.converge(ctx, i, live)
	if v != nil && v.state == graph.Excluded {
		return g.leave(ctx, i, live, v)
	}
	if v != nil {
		return v, false
	}
	g.nodes[i].used.Store(g.nodes[i].inputs)
	g.nodes[i].leaving.Store(false)
	return g.judge(ctx, i, item, info.Rules, conflicts)
}

// kind finds out where the object's kind lives and what its rules are.
func (g *generation) kind(ctx context.Context, n *node) (observer.KindInfo, *verdict) {
	id := n.def.Identity
	info, err := g.x.kinds.Rules(ctx, id.GroupKind(), n.def.Version)
	if err != nil {
		if meta.IsNoMatchError(err) {
			return info, n.of(&writer.Failure{Class: writer.Waiting, Reason: writer.ReasonKindUnknown, Message: fmt.Sprintf(
				"kind %s in version %s is not installed: waits for its CRD or API service", id.GroupKind(), n.def.Version)})
		}
		return info, n.of(writer.Classify(id, err))
	}
	if info.Terminating {
		return info, n.of(&writer.Failure{Class: writer.Waiting, Reason: writer.ReasonKindTerminating,
			Message: fmt.Sprintf("the CRD of kind %s is being deleted: waits until it is back", id.GroupKind())})
	}
	if n.def.RequireSupport && !info.Builtin && !info.Rules.SupportEnabled {
		return info, failed(ReasonSupportDisabled, fmt.Sprintf(
			"kind %s may not be used here: annotate its CRD %s with smith.atlassian.com/SupportEnabled: \"true\"",
			id.GroupKind(), info.Mapping.Resource.GroupResource()))
	}
	if f := g.x.writer.Admit(g.owner, id, info.Mapping); f != nil {
		return info, n.of(f)
	}
	if n.mapping == nil || n.mapping.Resource != info.Mapping.Resource {
		n.mapping = info.Mapping
		n.store = g.acquire(g.x.childKey(g.account, info.Mapping.Resource))
	}
	return info, nil
}

// locate finds the live object: nil when there is none as far as is known. It
// sends nothing and waits for no cache: an object that cannot exist yet is
// absent, one that may exist waits for its watch.
func (g *generation) locate(n *node) (*observer.Item, *verdict) {
	item, presence := n.store.Get(n.def.Identity.Namespace, n.def.Identity.Name)
	switch presence {
	case observer.Present:
		n.seen = true
		return &item, nil
	case observer.Absent:
		return nil, nil
	case observer.Unknown:
	}
	if item.Object != nil {
		n.seen = true // the watch lags: the writer reads live before it writes
		return nil, nil
	}
	synced, err := n.store.Status()
	switch {
	case err != nil:
		return nil, n.unwatched(err)
	case synced, !n.seen && !n.recorded && !g.recordedBefore:
		return nil, nil
	}
	return nil, waiting(ReasonNotSynced, "waits for the first list of "+n.mapping.Resource.GroupResource().String())
}

func (n *node) unwatched(err error) *verdict {
	if f := writer.Classify(n.def.Identity, err); f.Reason == writer.ReasonImpersonationForbidden {
		return n.of(f)
	}
	if observer.ReasonOf(err) == observer.WatchForbidden {
		return waiting(ReasonWatchForbidden, watchMessage(err))
	}
	v := waiting(ReasonWatchFailed, watchMessage(err))
	v.retry = kindRetryMax
	return v
}

// watchMessage says why a kind cannot be watched, and for a missing right
// which rule to grant.
func watchMessage(err error) string {
	var e *observer.StoreError
	if !errors.As(err, &e) || e.Reason != observer.WatchForbidden {
		return err.Error()
	}
	who := "Truss"
	if user := e.Key.Account.UserName(); user != "" {
		who = user
	}
	return fmt.Sprintf("%s may not watch %s: grant it with a rule {apiGroups: [%q], resources: [%q], verbs: [get, list, watch, create, update, patch, delete]}%s",
		who, e.Key.Resource.GroupResource(), e.Key.Resource.Group, e.Key.Resource.Resource, grantHint(e.Key.Account))
}

func grantHint(a cluster.Account) string {
	if a.Own() {
		return " in a ClusterRole labelled truss.dev/aggregate-to-bundles: \"true\""
	}
	return " in a Role of namespace " + a.Namespace
}
