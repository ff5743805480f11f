// Package graph compiles nodes and what they need into a directed acyclic
// graph, and walks it. It knows nothing of Kubernetes: a compiler decides what
// a node holds, an executor decides what acting on it means.
//
//	compiler -> []Node[T] -> New -> *Graph[T] -> NewRun -> *Run <-> executor
//	                          |         |                   |
//	                  typed errors      +------ View -------+-> DOT, Mermaid, JSON
//
// A Graph is immutable and safe for concurrent use. New checks everything in
// one call, keeps adjacency in flat slices and numbers the nodes by their place
// in the author's list; those numbers are used everywhere else. A Graph also
// implements gonum's graph.Directed, with edges from a need to its dependants.
//
// A Run is the state machine of one walk. It is told outcomes and events, and
// answers which node may act now. It never rescans the graph: the cost of an
// event is the number of dependants of the nodes whose state it changes. It
// holds no truth of its own: dropped and rebuilt it reaches the same states.
package graph
