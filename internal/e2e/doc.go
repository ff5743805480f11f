// Package e2e holds the end-to-end tests: a real control plane, the manager
// under its own service account's token, and YAML as a user would write it.
//
//	main_test.go     one plane and one manager for all tests
//	manager_test.go  starting, stopping and killing the manager
//	world_test.go    a namespace with clients and what is asked of them
//	outside_test.go  controllers of custom resources, played by the test
//	audit_test.go    what the manager requested, from the audit log
//
// Tests that stop the manager run first, one after the other; all others call
// t.Parallel and keep to their own namespace.
package e2e
