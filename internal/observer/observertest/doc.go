// Package observertest ties an observer to a test.
//
//	plane --Start--> observer.Observer --Check--> the test fails at its end,
//	                                              with every broken promise
//
// One observer serves all tests of a package: Check reports what happened
// after it was called, and only in the namespaces that it is told.
package observertest
