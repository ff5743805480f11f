// Package cli holds the commands with which people look at graphs: `truss
// trace` and `truss graph`.
//
//	flags, arguments --> NewTrace --> reader --> trace.Of --> text, JSON
//	                 \-> NewGraph --> reader or files --> graph.View --> text, DOT, Mermaid, JSON
//
// It is wiring: what is read comes from reader, what is said from trace and
// graph, how it looks from terminal. Flags and error messages are kubectl's,
// by way of cli-runtime. Nothing here writes to a cluster.
package cli
