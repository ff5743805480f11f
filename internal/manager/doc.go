// Package manager is `truss manager`: it wires the controllers to an API
// server and runs them.
//
//	flags --> Options --Run--> controller-runtime manager
//	                             | caches of owners, leader election,
//	                             | health, metrics over TLS with
//	                             | authentication by the API server
//	                             +--> bundle/controller --> graph/executor
//
// It decides nothing about graphs; it refuses to run with rights it must not
// have.
package manager
