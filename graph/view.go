package graph

import "slices"

// maxMessage bounds how much of a message is drawn into a node, in characters.
// JSON has all of it.
const maxMessage = 80

// A View is a graph made ready to be shown: plain data, the same for DOT,
// Mermaid and JSON. It can be read back from its JSON and drawn elsewhere.
type View struct {
	// Title is shown above the graph.
	Title string `json:"title,omitempty"`
	// Nodes are all nodes by the author's order.
	Nodes []ViewNode `json:"nodes"`
	// Edges run from need to dependant, ordered by dependant.
	Edges []ViewEdge `json:"edges"`
	// Dropped are the inferred edges that the graph left out.
	Dropped []ViewEdge `json:"dropped,omitempty"`
	// CriticalPath is the heaviest path.
	CriticalPath []ID `json:"criticalPath"`
}

// A ViewNode is one node of a View.
type ViewNode struct {
	ID ID `json:"id"`
	// Label is shown in place of the ID where it is set.
	Label string `json:"label,omitempty"`
	// State is the word of a State; empty when the View was made without states.
	State string `json:"state,omitempty"`
	// Message says why the node is in this state.
	Message string `json:"message,omitempty"`
	Weight  int64  `json:"weight"`
	Depth   int    `json:"depth"`
	// Critical nodes are on the critical path.
	Critical bool `json:"critical,omitempty"`
}

// A ViewEdge is one edge of a View: To needs From.
type ViewEdge struct {
	From   ID     `json:"from"`
	To     ID     `json:"to"`
	Reason Reason `json:"reason"`
	// Critical edges are on the critical path.
	Critical bool `json:"critical,omitempty"`
}

// A ViewOption adds something to a View.
type ViewOption func(*viewer)

// A viewer holds what the options of a View ask for; nil functions add nothing.
type viewer struct {
	title   string
	state   func(i int) string
	message func(i int) string
	label   func(i int) string
}

// WithTitle sets the View's title.
func WithTitle(title string) ViewOption {
	return func(v *viewer) { v.title = title }
}

// WithRun adds the states that r has now, all of one moment. r must be a run of
// the same graph.
func WithRun(r *Run) ViewOption {
	states := r.States()
	return WithStates(func(i int) State { return states[i] })
}

// WithStates adds the state of each node.
func WithStates(state func(i int) State) ViewOption {
	return func(v *viewer) {
		v.state = func(i int) string { return state(i).String() }
	}
}

// WithMessages adds a message to each node for which it is not empty.
func WithMessages(message func(i int) string) ViewOption {
	return func(v *viewer) { v.message = message }
}

// WithLabels shows labels in place of IDs, for each node for which it is not
// empty.
func WithLabels(label func(i int) string) ViewOption {
	return func(v *viewer) { v.label = label }
}

// View returns the graph as data for WriteDOT, WriteMermaid and WriteJSON.
// O(V+E).
func (t *topology) View(opts ...ViewOption) View {
	none := func(int) string { return "" }
	v := viewer{state: none, message: none, label: none}
	for _, opt := range opts {
		opt(&v)
	}
	path := t.CriticalPath()
	view := View{Title: v.title, CriticalPath: make([]ID, 0, len(path))}
	before := make(map[int32]int32, len(path))
	previous := int32(-1)
	for _, i := range path {
		view.CriticalPath = append(view.CriticalPath, t.ids[i])
		before[i] = previous
		previous = i
	}
	view.Nodes = t.viewNodes(v, before)
	view.Edges = t.viewEdges(before)
	for _, d := range t.dropped {
		view.Dropped = append(view.Dropped, ViewEdge{From: d.Need, To: d.ID, Reason: Inferred})
	}
	return view
}

// viewNodes returns the nodes; before holds each node of the critical path and
// the one before it.
func (t *topology) viewNodes(v viewer, before map[int32]int32) []ViewNode {
	nodes := make([]ViewNode, t.Len())
	for i, id := range t.ids {
		_, critical := before[int32(i)]
		nodes[i] = ViewNode{
			ID:       id,
			Label:    v.label(i),
			State:    v.state(i),
			Message:  v.message(i),
			Weight:   t.weights[i],
			Depth:    t.Depth(i),
			Critical: critical,
		}
	}
	return nodes
}

// viewEdges returns the edges; before is as for viewNodes.
func (t *topology) viewEdges(before map[int32]int32) []ViewEdge {
	edges := make([]ViewEdge, 0, len(t.needs.to))
	for i := range int32(t.Len()) {
		previous, critical := before[i]
		for k, need := range t.needs.of(i) {
			edges = append(edges, ViewEdge{
				From:     t.ids[need],
				To:       t.ids[i],
				Reason:   t.NeedReason(int(i), k),
				Critical: critical && need == previous,
			})
		}
	}
	return edges
}

// lines returns what is drawn into a node: its name, its state, and the
// beginning of its message.
func (n ViewNode) lines() []string {
	name := n.Label
	if name == "" {
		name = string(n.ID)
	}
	message := n.Message
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage-1]) + "…"
	}
	return slices.DeleteFunc([]string{name, n.State, message}, func(s string) bool { return s == "" })
}
