package trace

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// A Plan is what a Bundle's spec says: its resources in an order in which each
// comes after its needs.
type Plan struct {
	nodes    []planned
	index    map[string]int
	problems []string
}

// planned is one resource of a Plan.
type planned struct {
	name     string
	object   Object
	needs    []need
	level    int
	critical bool
}

// need is one edge; index is the place of the need in the Plan.
type need struct {
	index  int
	reason graph.Reason
}

// NewPlan compiles the Bundle. When that fails the plan holds what can still
// be shown, in the order of the spec: its resources, and of their references
// those that point to an earlier one. Its cost is that of bundle.Compile.
func NewPlan(b *v1.Bundle) *Plan {
	g, err := bundle.Compile(b)
	if err != nil {
		return brokenPlan(b, err)
	}
	p := newPlan(g.Len())
	place := make([]int, g.Len())
	critical := criticalNodes(g)
	for k, i := range g.Order() {
		place[i] = k
		n := g.At(int(i))
		id := n.Payload.Identity
		p.add(planned{
			name:     string(n.ID),
			object:   Object{Group: id.Group, Version: n.Payload.Version, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name},
			level:    g.Depth(int(i)),
			critical: critical[i],
		})
		for k, to := range g.Needs(int(i)) {
			p.need(place[to], g.NeedReason(int(i), k))
		}
	}
	return p
}

func newPlan(size int) *Plan {
	return &Plan{nodes: make([]planned, 0, size), index: make(map[string]int, size)}
}

func (p *Plan) add(n planned) {
	p.index[n.name] = len(p.nodes)
	p.nodes = append(p.nodes, n)
}

// need adds a need to the node added last.
func (p *Plan) need(index int, reason graph.Reason) {
	last := &p.nodes[len(p.nodes)-1]
	last.needs = append(last.needs, need{index, reason})
}

// criticalNodes returns the nodes of the longest chain. One node alone is none.
func criticalNodes(g *resource.Graph) map[int32]bool {
	path := g.CriticalPath()
	out := make(map[int32]bool, len(path))
	if len(path) < 2 {
		return out
	}
	for _, i := range path {
		out[i] = true
	}
	return out
}

func brokenPlan(b *v1.Bundle, err error) *Plan {
	p := newPlan(len(b.Spec.Resources))
	for _, e := range Split(err) {
		p.problems = append(p.problems, e.Error())
	}
	for i := range b.Spec.Resources {
		r := &b.Spec.Resources[i]
		if _, taken := p.index[r.Name]; taken {
			continue
		}
		p.add(planned{name: r.Name, object: objectOf(b, r)})
		seen := map[int]bool{len(p.nodes) - 1: true}
		for j := range r.References {
			if to, ok := p.index[r.References[j].Resource]; ok && !seen[to] {
				seen[to] = true
				p.need(to, graph.Referenced)
			}
		}
	}
	return p
}

// objectOf reads as much of an object's identity as there is.
func objectOf(b *v1.Bundle, r *v1.Resource) Object {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if r.Spec.Object != nil {
		// What does not decode is among the problems already.
		_ = json.Unmarshal(r.Spec.Object.Raw, &head)
	}
	gv, _ := schema.ParseGroupVersion(head.APIVersion) // as above
	return Object{Group: gv.Group, Version: gv.Version, Kind: head.Kind, Namespace: b.Namespace, Name: head.Metadata.Name}
}

// Split returns the parts of a joined error, in order; an error that joins
// none is its only part, and nil has none.
func Split(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, Split(e)...)
		}
		return out
	}
	if inner := errors.Unwrap(err); inner != nil {
		if parts := Split(inner); len(parts) > 1 {
			return parts
		}
	}
	return []error{err}
}

// Kinds returns the kinds of the plan's objects and of those to delete, each
// once, in the order of first use. Objects without a kind are left out.
func (p *Plan) Kinds(s *v1.BundleStatus) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	seen := map[schema.GroupKind]bool{}
	add := func(o Object) {
		gvk := schema.GroupVersionKind{Group: o.Group, Version: o.Version, Kind: o.Kind}
		if o.Kind != "" && !seen[gvk.GroupKind()] {
			seen[gvk.GroupKind()] = true
			out = append(out, gvk)
		}
	}
	for i := range p.nodes {
		add(p.nodes[i].object)
	}
	for _, o := range s.ObjectsToDelete {
		add(Object{Group: o.Group, Version: o.Version, Kind: o.Kind})
	}
	return out
}
