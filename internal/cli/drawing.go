package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/cli/terminal"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// viewOf returns the drawing of a compiled Bundle, with the states of a trace
// unless that is nil.
func viewOf(b *v1.Bundle, g *resource.Graph, states *trace.Trace) graph.View {
	v := g.View(
		graph.WithTitle(fmt.Sprintf("%s %s/%s", v1.BundleKind, b.Namespace, b.Name)),
		graph.WithLabels(func(i int) string {
			n := g.At(i)
			return fmt.Sprintf("%s (%s/%s)", n.ID, n.Payload.Identity.Kind, n.Payload.Identity.Name)
		}),
	)
	if states == nil {
		return v
	}
	byName := make(map[graph.ID]*trace.Node, len(states.Nodes))
	for i := range states.Nodes {
		byName[graph.ID(states.Nodes[i].Name)] = &states.Nodes[i]
	}
	for i := range v.Nodes {
		n := byName[v.Nodes[i].ID]
		if n != nil && n.State != trace.Unknown {
			v.Nodes[i].State, v.Nodes[i].Message = string(n.State), n.Message
		}
	}
	return v
}

// write prints a view in one of the formats of `truss graph`.
func write(out io.Writer, v graph.View, format string, ascii bool) error {
	switch format {
	case "dot":
		return v.WriteDOT(out)
	case "mermaid":
		return v.WriteMermaid(out)
	case "json":
		var b bytes.Buffer
		if err := v.WriteJSON(&b); err != nil {
			return err
		}
		return put(out, string(terminal.CleanJSON(b.Bytes())))
	}
	return put(out, levels(v, ascii))
}

func put(out io.Writer, text string) error {
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("cannot write the graph: %w", err)
	}
	return nil
}

// levels lists the nodes of a view level by level: those of a level need none
// of their own level, so that the list is in topological order. O(V+E).
func levels(v graph.View, ascii bool) string {
	needs := make(map[graph.ID][]string, len(v.Nodes))
	for _, e := range v.Edges {
		text := string(e.From)
		if e.Reason == graph.Inferred {
			text += " (inferred)"
		}
		needs[e.To] = append(needs[e.To], text)
	}
	var byLevel [][]graph.ViewNode
	label, state := 0, 0
	for _, n := range v.Nodes {
		for len(byLevel) <= n.Depth {
			byLevel = append(byLevel, nil)
		}
		byLevel[n.Depth] = append(byLevel[n.Depth], n)
		label, state = max(label, terminal.Width(terminal.Clean(n.Label, ascii))), max(state, len(n.State))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %d resources in %d levels\n", terminal.Clean(v.Title, ascii), len(v.Nodes), len(byLevel))
	for level, nodes := range byLevel {
		fmt.Fprintf(&b, "\nlevel %d\n", level)
		for _, n := range nodes {
			mark := " "
			if n.Critical && len(v.CriticalPath) > 1 {
				mark = "*"
			}
			line := mark + " " + terminal.Pad(terminal.Clean(n.Label, ascii), label)
			if state > 0 {
				line += "  " + terminal.Pad(n.State, state)
			}
			if all := needs[n.ID]; len(all) > 0 {
				line += "  needs " + terminal.Clean(strings.Join(all, ", "), ascii)
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	if len(v.CriticalPath) > 1 {
		b.WriteString("\n* on the critical path\n")
	}
	return b.String()
}
