// Package observer watches Truss from outside during a test and says which of
// its promises it broke. It shares no state with the manager: it knows what
// the API server's audit log and its own watches tell.
//
//	audit log --tail--> Request ---+
//	                               +--> history --judge--> []Violation
//	watches ---> life, version ----+      (small facts, never whole objects)
//
// Nothing is judged on the way: facts of both sources come late and in any
// order. Settle waits until both are complete up to now; what was settled is
// judged as a whole, by resourceVersions. All objects of a control plane lie
// in one etcd, whose revisions order every change of every object; clocks are
// compared only where a mistake hides a violation and never makes one up.
//
// The invariants are S1 gate, S2 no foreign touch, S3 preconditions, S4
// reverse order, S6 confinement, S12 quiet (Quiet, RequestsBy), S15 inventory
// before create and S16 no double create.
package observer
