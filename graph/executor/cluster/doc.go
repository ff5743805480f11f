// Package cluster is the handle on one API server: clients per identity and
// the mapping from kinds to resources.
//
// Data flow: the manager makes one Cluster from its rest.Config. The writer
// and the observer ask it for a Client of the account they act as; every
// client shares the manager's connections, and the account's name is added to
// each request by a transport that refuses to send a request without one. (An
// empty impersonation header is no impersonation: the request would run with
// the manager's own rights.) Kinds are mapped to resources by discovery of one
// group version at a time, so that a broken APIService of one group never
// matters to another; the observer drops mappings when CRDs or APIServices
// change.
package cluster
