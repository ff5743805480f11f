// Package resource says what a node of a Truss graph holds: the static
// identity of one Kubernetes object, the function that renders it, and what
// the executor must know about it before it is rendered.
//
//	Bundle, Stack instance, install, claim
//	        |  compile (pure, no cluster writes)
//	        v
//	graph.Graph[resource.Node]
//	        |  Node.Render(inputs of ready needs)
//	        v
//	graph/executor   applies the rendered object and judges it
//
// Identity (group, kind, namespace, name) is known when the graph is
// compiled and never changes with what a render reads; the version is an
// attribute, so that a new apiVersion is an update and not a replacement.
package resource
