package executor

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/readiness"
)

// inputs is what node i may read while it renders: its direct needs.
type inputs struct {
	g *generation
	i int
}

func (in inputs) need(id graph.ID) *published {
	j, ok := in.g.graph.Index(id)
	if !ok {
		return nil
	}
	for _, n := range in.g.graph.Needs(in.i) {
		if int(n) == j {
			return in.g.nodes[j].published.Load()
		}
	}
	return nil
}

// Object implements resource.Inputs.
func (in inputs) Object(need graph.ID) *unstructured.Unstructured {
	if p := in.need(need); p != nil {
		return p.object
	}
	return nil
}

// Output implements resource.Inputs.
func (in inputs) Output(need graph.ID) (readiness.Output, bool) {
	p := in.need(need)
	if p == nil || p.output == nil {
		return readiness.Output{}, false
	}
	return *p.output, true
}

// OutputObject implements resource.Inputs. The data is read as the account
// that writes the dependant, and not kept.
func (in inputs) OutputObject(ctx context.Context, need graph.ID) (*unstructured.Unstructured, error) {
	p := in.need(need)
	if p == nil || p.output == nil {
		return nil, &resource.WaitError{Message: fmt.Sprintf("waits for the output object of %q", need)}
	}
	live, err := in.g.client.Dynamic.Resource(outputResource(p.output.Kind)).
		Namespace(p.object.GetNamespace()).Get(ctx, p.output.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read the output %s %q of %q: %w", p.output.Kind, p.output.Name, need, err)
	}
	return live, nil
}

// signature identifies what a render of node i reads now. A static node reads
// nothing, but its ownerReferences hold the UIDs of its needs.
func (g *generation) signature(i int) uint64 {
	h := fnv.New64a()
	var buf [8]byte
	static := g.nodes[i].def.Static
	for _, n := range g.graph.Needs(i) {
		p := g.nodes[n].published.Load()
		if static {
			_, _ = h.Write([]byte(p.uid()))
			_, _ = h.Write(buf[:1])
			continue
		}
		if p != nil {
			binary.LittleEndian.PutUint64(buf[:], p.serial)
		}
		_, _ = h.Write(buf[:])
	}
	return h.Sum64()
}

// needReferences are the ownerReferences from node i to its needs in the same
// namespace, so that a foreground deletion by others keeps the order as far
// as the garbage collector allows.
func (g *generation) needReferences(i int) []metav1.OwnerReference {
	var refs []metav1.OwnerReference
	block := true
	for _, n := range g.graph.Needs(i) {
		p := g.nodes[n].published.Load()
		if p == nil || p.object == nil || p.object.GetNamespace() != g.nodes[i].def.Identity.Namespace {
			continue
		}
		refs = append(refs, metav1.OwnerReference{
			APIVersion: p.object.GetAPIVersion(), Kind: p.object.GetKind(),
			Name: p.object.GetName(), UID: p.object.GetUID(), BlockOwnerDeletion: &block,
		})
	}
	return refs
}

// publish makes the state of a node that is Ready readable for its
// dependants, and says whether they read something else than before.
func (g *generation) publish(i int, item observer.Item, rel *related) (changed bool) {
	n := &g.nodes[i]
	next := &published{object: item.Object}
	if rel != nil && rel.output != nil {
		next.output, next.outputVersion = rel.output, rel.outputVersion
	}
	was := n.published.Load()
	if was != nil && was.same(next, !g.readers[i]) {
		next.serial = was.serial
		n.published.Store(next)
		return false
	}
	next.serial = g.serial.Add(1)
	n.published.Store(next)
	return true
}
