// Package trace says how far a Bundle is and what holds it back, for people
// and for programs. All of it is pure: objects in, text out.
//
//	Bundle --> NewPlan --+
//	           (graph)   +--> Of --> Trace --> Lines    for a terminal or a pipe
//	children's metadata -+             |  +--> JSON
//	(Live)                             +-----> Changes  from one Trace to the next
//
// A Trace is drawn as a tree in which each resource stands once: below the
// resource that blocks it or, when none does, below the deepest of its needs;
// what else it comes after is named in its line. In a Bundle that is being
// deleted the tree is the other way round, since objects wait for those that
// need them to be gone. Large Bundles show what is not Ready, and count the
// rest.
package trace
