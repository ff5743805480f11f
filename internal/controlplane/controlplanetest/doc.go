// Package controlplanetest gives tests a real control plane.
//
//	TestMain --> Main --> controlplane.Start     one plane per test package
//	TestX    --> Namespace(t, plane)             one namespace per test
//	TestY    --> Start(t, options)               a plane of its own, for faults
//
// Where the control plane was not built, tests that need one are skipped with
// the reason; with TRUSS_REQUIRE_LOCAL=1 they fail, so that a pipeline cannot
// pass by testing nothing. TRUSS_KEEP_LOCAL=1 keeps the plane's directory, and
// says where it is.
package controlplanetest
