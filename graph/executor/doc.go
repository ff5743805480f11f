// Package executor walks graphs of Kubernetes objects: it is the engine that
// Bundles, Stacks, installs and claims share.
//
//	domain reconciler --owner, compile--> Executor.Reconcile --> Report
//	                                          |
//	        drain: graph.Run.Next -> step -> graph.Run.Set
//	                                  |
//	   kind known? -> render -> writer.Ensure -> readiness -> publish outputs
//	                                  ^
//	   observer events --Touch, wake--+        removal: prune and teardown,
//	                                            the same loop on a reversed graph
//
// One reconcile drains an owner's run: a write's response is judged at once,
// so a chain of objects that are ready on creation completes in one reconcile.
// What waits is woken by an event or by its own timer, never by polling the
// graph. Everything kept here can be dropped and is rebuilt from the cluster.
package executor
