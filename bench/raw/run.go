package raw

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/reconciler"
)

// Run sends what Truss sends for an owner that was just created: one finalizer
// apply, one ControllerRevision, the children (each of which may refer to those
// it needs, so a chain is sequential whatever the connections), one status
// apply. It returns when the last is answered.
func (p *Plan) Run(ctx context.Context, c *Connections, uid types.UID) error {
	owner := p.owner
	owner.UID = uid
	first := c.clients[0]
	owners := reconciler.NewOwnerWriter(first)
	if err := owners.Guard(ctx, &owner); err != nil {
		return err
	}
	if _, err := inventory.NewRecords(first, owner.Namespace).Write(ctx, &owner, p.record); err != nil {
		return err
	}
	if err := p.create(ctx, c, &owner); err != nil {
		return fmt.Errorf("cannot create the children of the baseline: %w", err)
	}
	return owners.Status(ctx, &owner, &p.status)
}

// create makes the children level by level, so that a need exists before what
// refers to it.
func (p *Plan) create(ctx context.Context, c *Connections, owner *resource.Owner) error {
	uids := make([]types.UID, len(p.children))
	for _, level := range p.levels() {
		err := c.each(ctx, len(level), func(ctx context.Context, client dynamic.Interface, i int) error {
			node := level[i]
			needs := p.graph.Needs(node)
			known := make([]types.UID, len(needs))
			for j, need := range needs {
				known[j] = uids[need]
			}
			made, err := client.Resource(configMaps).Namespace(owner.Namespace).
				Create(ctx, p.fill(node, owner, known), metav1.CreateOptions{FieldManager: writer.FieldManager})
			if err != nil {
				return err
			}
			uids[node] = made.GetUID()
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// levels are the nodes by depth.
func (p *Plan) levels() [][]int {
	var levels [][]int
	for _, next := range p.graph.Order() {
		i := int(next)
		depth := p.graph.Depth(i)
		for len(levels) <= depth {
			levels = append(levels, nil)
		}
		levels[depth] = append(levels[depth], i)
	}
	return levels
}

// Plain creates objects of the same data without owner, labels or annotation,
// in no order: what any client would need at the least.
func (p *Plan) Plain(ctx context.Context, c *Connections) error {
	return c.each(ctx, len(p.children), func(ctx context.Context, client dynamic.Interface, i int) error {
		child := p.children[i].Object
		bare := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": child["apiVersion"], "kind": child["kind"], "data": child["data"],
			"metadata": map[string]any{"name": p.children[i].GetName()},
		}}
		_, err := client.Resource(configMaps).Namespace(p.owner.Namespace).Create(ctx, bare, metav1.CreateOptions{})
		return err
	})
}
