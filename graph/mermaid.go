package graph

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// mermaidArrows is how Mermaid draws an edge of each reason.
var mermaidArrows = [...]string{Declared: "-->", Referenced: "-->|referenced|", Inferred: "-.->|inferred|"}

// WriteMermaid writes the view as a Mermaid flowchart, with the meaning that
// WriteDOT gives it. Nodes are called n0, n1 and so on, by their place in the
// view; what they are shown as is escaped so that it stays text. It fails when
// an edge leads to a node that the view does not have. Mermaid itself refuses
// charts of more than 500 edges unless it is configured otherwise.
func (v View) WriteMermaid(w io.Writer) error {
	names := make(map[ID]string, len(v.Nodes))
	b := bufio.NewWriter(w)
	if v.Title != "" {
		fmt.Fprintf(b, "---\ntitle: %s\n---\n", strconv.QuoteToASCII(v.Title))
	}
	fmt.Fprint(b, "flowchart LR\n")
	for i, n := range v.Nodes {
		names[n.ID] = "n" + strconv.Itoa(i)
		fmt.Fprintf(b, "  %s[\"%s\"]%s\n", names[n.ID], n.mermaidText(), n.mermaidClass())
	}
	for _, e := range v.Edges {
		from, to := names[e.From], names[e.To]
		if from == "" || to == "" || int(e.Reason) >= len(mermaidArrows) {
			return fmt.Errorf("cannot write Mermaid edge from %q to %q: not an edge between nodes of the view", e.From, e.To)
		}
		fmt.Fprintf(b, "  %s %s %s\n", from, mermaidArrows[e.Reason], to)
	}
	v.writeMermaidStyles(b, names)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("cannot write Mermaid: %w", err)
	}
	return nil
}

// writeMermaidStyles writes the colours of states and of the critical path.
func (v View) writeMermaidStyles(w io.Writer, names map[ID]string) {
	for s := Blocked; int(s) < len(stateWords); s++ {
		if slices.ContainsFunc(v.Nodes, func(n ViewNode) bool { return n.State == s.String() }) {
			fmt.Fprintf(w, "  classDef %s fill:%s,color:#000000\n", s, stateColours[s])
		}
	}
	var nodes, links []string
	for _, n := range v.Nodes {
		if n.Critical {
			nodes = append(nodes, names[n.ID])
		}
	}
	for k, e := range v.Edges {
		if e.Critical {
			links = append(links, strconv.Itoa(k))
		}
	}
	if len(nodes) > 0 {
		fmt.Fprintf(w, "  classDef critical stroke:%s,stroke-width:3px\n", criticalColour)
		fmt.Fprintf(w, "  class %s critical\n", strings.Join(nodes, ","))
	}
	if len(links) > 0 {
		fmt.Fprintf(w, "  linkStyle %s stroke:%s,stroke-width:3px\n", strings.Join(links, ","), criticalColour)
	}
}

// mermaidText returns what is drawn into the node; Mermaid refuses empty text.
func (n ViewNode) mermaidText() string {
	lines := n.lines()
	for i, line := range lines {
		lines[i] = escapeMermaid(line)
	}
	return cmp.Or(strings.Join(lines, "<br/>"), " ")
}

// mermaidClass attaches the class of the node's state, if it has one.
func (n ViewNode) mermaidClass() string {
	if _, ok := n.colour(); !ok {
		return ""
	}
	return ":::" + n.State
}

// escapeMermaid turns all but letters, digits and a few harmless signs into
// Mermaid's character codes, among them quotes, brackets, the # of those codes
// and the signs of Markdown, HTML and Mermaid's own directives.
func escapeMermaid(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune(" -_./:,…", c) {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, "#%d;", c)
	}
	return b.String()
}
