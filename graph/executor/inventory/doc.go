// Package inventory records what an owner's graph consists of before the
// first of its objects is written, and reads it back for restart, prune and
// teardown.
//
//	resource.Graph --NewPlan--> Plan --Records.Write--> ControllerRevision
//	                                                     {format, gz}
//	prune, teardown <--Reverse-- Plans <--Records.Read------+
//
// A record holds identity, version, plural, edges and depth of every node, so
// that taking a graph down needs neither templates nor CRDs, discovery or the
// package it came from. UIDs are never stored: what may be deleted is decided
// on the live object (its MAC), never on a record alone. Each record carries
// a finalizer that is released last, so an interrupted teardown never forgets
// an object.
package inventory
