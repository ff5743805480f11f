// Package archtest holds the rules of Truss's architecture that a compiler
// does not check, and the test that holds the repository to them.
//
//	go list -json ./...  -->  Load  -->  []Package  -->  Check  -->  []Violation
//	                                        ^
//	                        fake packages in the tests of each rule
//
// A rule says which package may import what, and why, so that a violation
// reads as an explanation. Besides imports it checks that every package has a
// doc comment and that no file grows beyond a readable size. The rules are
// those of the architecture document (docs/architecture.md); .golangci.yml
// repeats some of them for editors. The package uses the standard library
// only, and no other package imports it.
package archtest
