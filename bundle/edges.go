package bundle

import (
	"errors"
	"strings"

	"github.com/truss-dev/truss/graph"
)

// needs gives the edges of a resource: a nameless reference orders, a named
// one also reads. References to resources that do not exist are left out;
// they were refused before.
func (c *compiler) needs(e *entry) []graph.Need {
	out := make([]graph.Need, 0, len(e.source.References))
	for i := range e.source.References {
		r := &e.source.References[i]
		if c.byName[r.Resource] == nil {
			continue
		}
		reason := graph.Declared
		if r.Name != "" {
			reason = graph.Referenced
		}
		out = append(out, graph.Need{ID: graph.ID(r.Resource), Reason: reason})
	}
	return out
}

// refuseCycles turns what graph.New found into problems of the Bundle.
// Duplicate and missing nodes cannot be among it: earlier passes removed them.
func (c *compiler) refuseCycles(err error) {
	if err == nil {
		return
	}
	for _, e := range split(err) {
		c.refuseCycle(e)
	}
}

func (c *compiler) refuseCycle(err error) {
	var cycle *graph.CycleError
	if !errors.As(err, &cycle) || len(cycle.Path) == 0 {
		c.problems = append(c.problems, problem{index: len(c.entries), err: err})
		return
	}
	names := make([]string, len(cycle.Path))
	for i, id := range cycle.Path {
		names[i] = string(id)
	}
	e := c.byName[names[0]]
	c.refuse(e, ReasonCycle, e.field(".references"),
		"references form a cycle: %s; remove one of these references", strings.Join(names, " -> "))
}
