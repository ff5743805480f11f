// Package conformance keeps docs/conformance.md honest: the table that says for
// every case of Smith, and for every case that Smith never tested, which test
// shows it or why it does not apply.
//
//	docs/conformance.md --Parse--> []Row --+
//	                                       +--> Check --> what is wrong
//	*_test.go --Load (go/parser)--> Tests -+
//
// It looks at names only; that the tests pass is their own matter. A sub-test
// counts as existing when its name stands in the test's package, in a string
// or as a directory of testdata.
package conformance
