// Package observer sees the cluster: caches of watched objects on client-go
// Reflectors, joined with the responses of our own writes.
//
// Data flow: the executor acquires one Store per watch key (account, resource,
// namespace, selector), told by an Event when something in it changed. The
// writer hands every response and every live read to Observe. A store's view of
// an object is the newer of the last watch event and the last response, so that
// a reconcile judges what it just wrote without waiting for the watch. Nothing
// here blocks a reconcile: a store that is not synced answers Unknown and wakes
// its users later.
//
// Stored objects have no managedFields. What our own field manager owns is kept
// as Fields, shared between objects with equal sets, and answers whether the
// desired state still is what we own. For an object read live, SplitDrift says
// who holds a path that we lost.
//
// Kinds follows CRDs and APIServices and gives the readiness rules of a kind.
package observer
