package graph

import (
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/iterator"
)

// A vertex is a node as gonum sees it. It implements dot.Node and
// encoding.Attributer.
type vertex struct {
	number int64
	name   ID
}

// ID returns the node's number.
func (v vertex) ID() int64 {
	return v.number
}

// DOTID returns the node's ID, quoted for DOT.
func (v vertex) DOTID() string {
	return quoteDOT(string(v.name))
}

// Attributes returns the DOT attributes of the node.
func (v vertex) Attributes() []encoding.Attribute {
	return []encoding.Attribute{{Key: "label", Value: quoteDOT(string(v.name))}}
}

// A line is an edge as gonum sees it, from a need to its dependant. It
// implements encoding.Attributer.
type line struct {
	from, to vertex
	reason   Reason
}

// From returns the need.
func (l line) From() gonum.Node {
	return l.from
}

// To returns the dependant.
func (l line) To() gonum.Node {
	return l.to
}

// ReversedEdge returns l itself: its direction has a meaning.
func (l line) ReversedEdge() gonum.Edge {
	return l
}

// Attributes returns the DOT attributes of the edge.
func (l line) Attributes() []encoding.Attribute {
	return []encoding.Attribute{{Key: "style", Value: dotStyles[l.reason]}}
}

// vertex returns node i as gonum sees it.
func (t *topology) vertex(i int32) vertex {
	return vertex{number: int64(i), name: t.ids[i]}
}

// vertices returns a new iterator over nodes.
func (t *topology) vertices(nodes []int32) gonum.Nodes {
	if len(nodes) == 0 {
		return gonum.Empty
	}
	list := make([]gonum.Node, len(nodes))
	for k, i := range nodes {
		list[k] = t.vertex(i)
	}
	return iterator.NewOrderedNodes(list)
}

// holds reports whether id is the number of a node.
func (t *topology) holds(id int64) bool {
	return id >= 0 && id < int64(t.Len())
}

// Node returns the node with the number id, nil when there is none. Together
// with the methods below it implements gonum's graph.Directed, whose node IDs
// are author positions and whose edges run from a need to its dependant.
func (t *topology) Node(id int64) gonum.Node {
	if !t.holds(id) {
		return nil
	}
	return t.vertex(int32(id))
}

// Nodes returns all nodes by the author's order, in an iterator and a slice of
// its own for each call.
func (t *topology) Nodes() gonum.Nodes {
	all := make([]int32, t.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return t.vertices(all)
}

// From returns the dependants of the node with the number id.
func (t *topology) From(id int64) gonum.Nodes {
	if !t.holds(id) {
		return gonum.Empty
	}
	return t.vertices(t.Dependants(int(id)))
}

// To returns the needs of the node with the number id.
func (t *topology) To(id int64) gonum.Nodes {
	if !t.holds(id) {
		return gonum.Empty
	}
	return t.vertices(t.Needs(int(id)))
}

// HasEdgeFromTo reports whether node vid needs node uid. O(needs of vid).
func (t *topology) HasEdgeFromTo(uid, vid int64) bool {
	return t.holds(uid) && t.holds(vid) && t.needs.has(int32(vid), int32(uid))
}

// HasEdgeBetween reports whether one of the two nodes needs the other.
func (t *topology) HasEdgeBetween(xid, yid int64) bool {
	return t.HasEdgeFromTo(xid, yid) || t.HasEdgeFromTo(yid, xid)
}

// Edge returns the edge from node uid to its dependant vid, nil when there is
// none. O(needs of vid).
func (t *topology) Edge(uid, vid int64) gonum.Edge {
	if !t.holds(uid) || !t.holds(vid) {
		return nil
	}
	for k, need := range t.Needs(int(vid)) {
		if int64(need) == uid {
			return line{from: t.vertex(need), to: t.vertex(int32(vid)), reason: t.NeedReason(int(vid), k)}
		}
	}
	return nil
}
