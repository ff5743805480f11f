package executor

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// keptRecords is how many records of an owner are kept as history.
const keptRecords = 5

// recordState is the inventory of one generation.
type recordState struct {
	mu sync.Mutex
	// name of the record that holds the plan as far as kinds are known.
	name string
	// stored says that the record is known to be in the cluster as the newest.
	stored bool
	// unknown are kinds without a plural in that record.
	unknown map[schema.GroupKind]struct{}
	encoded inventory.Encoded
}

// plan encodes the graph with the plurals that are known now. The caller
// holds record.mu.
func (g *generation) plan() error {
	unknown := map[schema.GroupKind]struct{}{}
	plan := inventory.NewPlan(g.graph, func(n *resource.Node) string {
		mapping, err := g.x.cluster.Mapping(n.Identity.GroupKind(), n.Version)
		if err != nil {
			unknown[n.Identity.GroupKind()] = struct{}{}
			return ""
		}
		if g.x.writer.Admit(g.owner, n.Identity, mapping) != nil {
			return ""
		}
		return mapping.Resource.Resource
	})
	encoded, err := plan.Encode()
	if err != nil {
		return err
	}
	name := inventory.Name(g.owner, encoded.Hash)
	g.record.stored = g.record.stored && name == g.record.name
	g.record.name, g.record.unknown, g.record.encoded = name, unknown, encoded
	return nil
}

// recorded makes sure that the inventory holds a kind before the first object
// of it is written. It costs nothing once it does.
func (g *generation) recorded(ctx context.Context, gk schema.GroupKind) error {
	r := &g.record
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, missing := r.unknown[gk]; missing || r.name == "" {
		before := r.name
		if err := g.plan(); err != nil {
			return err
		}
		g.outgrow(before)
	}
	return g.storeRecord(ctx)
}

// outgrow counts the record that lacked a kind which is known now among the
// older ones, to be retired with them. The caller holds record.mu.
func (g *generation) outgrow(name string) {
	if name == g.record.name {
		return
	}
	for _, ref := range g.x.recordsOf(g.owner) {
		if ref.Name == name && ref.Active {
			g.older = append(g.older, ref)
		}
	}
}

// store makes sure that the newest record is this generation's.
func (g *generation) store(ctx context.Context) error {
	g.record.mu.Lock()
	defer g.record.mu.Unlock()
	return g.storeRecord(ctx)
}

// storeRecord writes the record unless that was done. The caller holds
// record.mu.
func (g *generation) storeRecord(ctx context.Context) error {
	r := &g.record
	if r.stored {
		return nil
	}
	written, err := g.x.records.Write(ctx, g.owner, r.encoded)
	if err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	g.x.recordStore.Observe(written)
	g.x.metrics.OwnerWrite(g.owner.GroupKind(), "inventory")
	r.stored = true
	return nil
}

// recordsOf returns the owner's records as far as they are known, newest first.
func (x *Executor) recordsOf(o *resource.Owner) []inventory.Ref {
	var out []inventory.Ref
	items := x.recordStore.ByOwner(o.UID)
	if o.Namespace == "" {
		items = x.recordStore.List() // these records refer to no owner
	}
	for _, item := range items {
		if item.Object.GetLabels()[resource.OwnerLabel] == string(o.UID) && inventory.Names(o, item.Object.GetName()) {
			out = append(out, inventory.RefOf(item.Object))
		}
	}
	slices.SortStableFunc(out, func(a, b inventory.Ref) int { return b.Compare(a) })
	return out
}
