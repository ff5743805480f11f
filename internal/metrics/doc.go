// Package metrics is the one place where Truss's Prometheus metrics are named,
// described and recorded.
//
//	executor, observer, reconcilers  --typed methods-->  Metrics  -->  /metrics
//	                                                        |
//	                                      Catalogue  -->  docs/metrics.md
//
// Callers see methods such as Applied and NodeStates, never vectors or labels,
// so that what a label may hold is decided here: kinds in use, reasons and
// results from fixed lists. Owners appear in truss_graph_nodes alone; those
// series end with their owner (Forget) and can be switched off
// (WithoutOwnerSeries). A nil *Metrics records nothing, for tests and for
// programs that serve no metrics. Queue depth and API request metrics come from
// controller-runtime and client-go, under their own names.
package metrics

//go:generate go test . -run ^TestDocumentationListsEveryMetric$ -update
