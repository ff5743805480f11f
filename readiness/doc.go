// Package readiness decides whether a live object is Ready, InProgress or
// Failed, and which output object it has published.
//
//	live object  ---+
//	Rules of kind --+--> Evaluator.Evaluate --> Result{Status, Reason, Message, Output}
//	Related --------+                                |
//	 (owned objects, output existence)               v
//	                                    graph/executor: state of one node
//
// It is pure: no I/O, no clock, no package state. The executor observes and
// hands in what it saw; the same input always gives the same Result, message
// included. Rules are tried in one order: terminating, observed generation,
// the object's own truss.dev/ready-when, Smith's annotations on its CRD,
// kstatus with an overlay for built-in kinds, the Ready condition for others.
// The message always says which rule decided and what it saw, and never holds
// a value of a Secret.
//
// Path, the checked JSONPath of the rules, also serves Bundle references.
package readiness
