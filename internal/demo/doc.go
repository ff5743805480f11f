// Command demo shows what Truss does, to someone who sees it for the first
// time: `make demo`.
//
//	deploy/examples/demo --> control plane + bin/truss manager, in a temporary directory
//	                            |
//	        acts (play.go) -----+--> up, metrics, rotation, down
//	                            |
//	     journal: watches of the Bundle and its objects --> page: text
//
// Each act does what its reader could do with kubectl, waits for the outcome
// and checks it: the demo fails when Truss does not keep its promises. The
// outside controllers are KWOK Stages. On a terminal the tree of `truss trace`
// is drawn again and again; in a pipe each change is a line.
//
// It ends by itself, and whatever happens it leaves no process and no file
// behind. Exit codes: 0, 1 when something failed, 130 when it was interrupted.
package main
