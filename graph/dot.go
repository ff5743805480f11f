package graph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// dotStyles is how DOT draws an edge of each reason.
var dotStyles = [...]string{Declared: "solid", Referenced: "dashed", Inferred: "dotted"}

// criticalColour marks the critical path in every drawing.
const criticalColour = "#c0392b"

// stateColours holds the fill of each state.
var stateColours = [...]string{
	Blocked:    "#dcdde1",
	InProgress: "#ffe8a3",
	Ready:      "#c4e8c2",
	Error:      "#f5b7b1",
	Excluded:   "#ffffff",
}

// colour returns the fill of the node's state; ok is false when it has none.
func (n ViewNode) colour() (fill string, ok bool) {
	var s State
	if err := s.UnmarshalText([]byte(n.State)); err != nil {
		return "", false
	}
	return stateColours[s], true
}

// WriteDOT writes the view in Graphviz's DOT language: edges from need to
// dependant, solid where declared, dashed where referenced, dotted where
// inferred; the critical path in red. Output is the same for the same view. Any
// ID, label or message is quoted so that it stays text.
func (v View) WriteDOT(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "digraph %s {\n", quoteDOT(v.Title))
	if v.Title != "" {
		fmt.Fprintf(b, "\tgraph [label=%s, labelloc=t];\n", quoteDOT(v.Title))
	}
	fmt.Fprint(b, "\tgraph [rankdir=LR];\n\tnode [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\"];\n")
	for _, n := range v.Nodes {
		fmt.Fprintf(b, "\t%s [%s];\n", quoteDOT(string(n.ID)), n.dotAttributes())
	}
	for _, e := range v.Edges {
		fmt.Fprintf(b, "\t%s -> %s [%s];\n", quoteDOT(string(e.From)), quoteDOT(string(e.To)), e.dotAttributes())
	}
	fmt.Fprint(b, "}\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("cannot write DOT: %w", err)
	}
	return nil
}

// dotAttributes returns the attributes of the node's statement.
func (n ViewNode) dotAttributes() string {
	attributes := []string{"label=" + quoteDOT(strings.Join(n.lines(), "\n"))}
	if n.Message != "" {
		attributes = append(attributes, "tooltip="+quoteDOT(n.Message))
	}
	if fill, ok := n.colour(); ok {
		attributes = append(attributes, "fillcolor="+quoteDOT(fill))
	}
	if n.Critical {
		attributes = append(attributes, "color="+quoteDOT(criticalColour), "penwidth=2")
	}
	return strings.Join(attributes, ", ")
}

// dotAttributes returns the attributes of the edge's statement.
func (e ViewEdge) dotAttributes() string {
	attributes := []string{"tooltip=" + e.Reason.String()}
	if int(e.Reason) < len(dotStyles) {
		attributes = append(attributes, "style="+dotStyles[e.Reason])
	}
	if e.Critical {
		attributes = append(attributes, "color="+quoteDOT(criticalColour), "penwidth=2")
	}
	return strings.Join(attributes, ", ")
}

// quoteDOT returns s as a DOT string. Different strings stay different, also
// where they are not valid UTF-8. Go's escapes serve: DOT needs those of quote,
// backslash and newline, and takes the rest as text. Characters that gonum's
// DOT parser refuses are escaped too.
func quoteDOT(s string) string {
	quoted := strconv.Quote(s)
	var b strings.Builder
	for _, c := range quoted {
		if c >= '\uFFFD' {
			fmt.Fprintf(&b, `\U%08x`, c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}
