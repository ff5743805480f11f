// Package raw is the baseline: a client that sends what Truss sends, and does
// nothing else. Its speed is the physical limit that Truss is measured against.
//
//	shape --> Prepare: compiled, rendered, hashed and encoded before the clock runs
//	                      |
//	owner POSTed by bench +--> Run: finalizer, inventory, children, status
//	                      |         on n connections, label watch open
//	                      +--> Plain: the children alone, without labels or owner
//
// The requests are made by the same code as Truss's (internal/reconciler,
// graph/executor/inventory, graph/executor/writer), so that they are equal but
// for identifiers: an owner's UID is known only after its POST, so a prepared
// object holds a placeholder of the same length. The MAC of a child is one of
// another key. A test compares what both leave in the API server.
package raw
