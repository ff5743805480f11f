package bundle

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// Compile turns a Bundle into its graph: one node per resource, its ID the
// resource's name, with an edge for each reference and those that
// resource.Infer finds. The Bundle is not modified and not kept.
//
// The error joins one *resource.InvalidError per problem, in the order of the
// spec; all are found in one call. O(size of the spec).
func Compile(b *v1.Bundle) (*resource.Graph, error) {
	c := newCompiler(b)
	for _, pass := range []func(){
		c.checkSize,
		c.checkNames,
		c.decode,
		c.identify,
		c.checkMetadata,
		c.bindReferences,
		c.bindObjects,
		c.checkSecrets,
		c.compileExamples,
	} {
		pass()
	}
	g := c.assemble()
	if err := c.err(); err != nil {
		return nil, err
	}
	return g, nil
}

// compiler holds what the passes share.
type compiler struct {
	bundle   *v1.Bundle
	entries  []*entry
	byName   map[string]*entry
	problems []problem
}

// entry is one resource on its way through the passes.
type entry struct {
	index  int
	source *v1.Resource
	// duplicate says that an earlier resource has the same name.
	duplicate bool
	// object is nil when it could not be decoded; later passes skip it.
	object   map[string]any
	metadata map[string]any
	// plain says that no string of the object can hold a placeholder.
	plain    bool
	identity resource.Identity
	version  string
	template *template
	// references are those that passed their checks, in the order of the spec.
	references []*reference
	byName     map[string]*reference
	// named are all declared names, sorted, also of references with mistakes;
	// declares is the same as a set.
	named    []string
	declares map[string]bool
	example  *renderer
}

// problem is a mistake and the place that decides its rank among others.
type problem struct {
	index int
	err   error
}

func newCompiler(b *v1.Bundle) *compiler {
	c := &compiler{
		bundle:  b,
		entries: make([]*entry, len(b.Spec.Resources)),
		byName:  make(map[string]*entry, len(b.Spec.Resources)),
	}
	for i := range b.Spec.Resources {
		c.entries[i] = &entry{index: i, source: &b.Spec.Resources[i]}
	}
	return c
}

// field is the path of a resource's field in the Bundle.
func (e *entry) field(suffix string) string {
	return "spec.resources[" + strconv.Itoa(e.index) + "]" + suffix
}

// objectField is the path of a field of the desired object in the Bundle.
func (e *entry) objectField(suffix string) string {
	return e.field(".spec.object" + suffix)
}

// refuse records a mistake of one resource.
func (c *compiler) refuse(e *entry, reason, field, format string, args ...any) {
	c.problems = append(c.problems, problem{index: e.index, err: &resource.InvalidError{
		Reason:  reason,
		Node:    e.source.Name,
		Field:   field,
		Message: fmt.Sprintf(format, args...),
	}})
}

// err joins the problems in the order of the spec.
func (c *compiler) err() error {
	slices.SortStableFunc(c.problems, func(a, b problem) int { return a.index - b.index })
	errs := make([]error, len(c.problems))
	for i, p := range c.problems {
		errs[i] = p.err
	}
	return errors.Join(errs...)
}

// assemble builds the graph. With problems it only looks for cycles among the
// resources that are known.
func (c *compiler) assemble() *resource.Graph {
	nodes := make([]graph.Node[resource.Node], 0, len(c.entries))
	for _, e := range c.entries {
		if !e.duplicate {
			nodes = append(nodes, graph.Node[resource.Node]{
				ID:      graph.ID(e.source.Name),
				Needs:   c.needs(e),
				Weight:  1,
				Payload: c.payload(e),
			})
		}
	}
	if len(c.problems) == 0 {
		resource.Infer(nodes)
	}
	g, err := graph.New(nodes)
	c.refuseCycles(err)
	return g
}

func (c *compiler) payload(e *entry) resource.Node {
	if e.template == nil {
		return resource.Node{}
	}
	live := newRenderer(e, readLive)
	node := resource.Node{
		Identity:       e.identity,
		Version:        e.version,
		Template:       live.static,
		Render:         live.render,
		Static:         len(e.named) == 0,
		RequireSupport: true,
	}
	if e.example != nil {
		node.Example = e.example.render
	}
	return node
}

// asUnstructured wraps an object without copying it.
func asUnstructured(object map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object}
}
