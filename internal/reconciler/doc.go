// Package reconciler is the controller that all kinds of owners share. A kind
// only says how it compiles and how its state is shown.
//
//	owner event --> Reconciler --finalizer--> executor.Reconcile --> Report
//	wake-up ------>     |                                              |
//	                    +---- deleted: executor.Teardown          Kind.Status
//	                                                                   |
//	                     pace: what changed is applied to the owner <--+
//
// Writes to an owner cost as much as the owner is large, so that they are
// counted: one for finalizer and slot label, one for each transition to Ready
// or Error, and progress in between only as often as twenty times the last
// write took.
package reconciler
