// Package bundle turns Bundles (API types in bundle/v1) into graphs and runs
// back into statuses and events.
//
//	*v1.Bundle --Compile--> *resource.Graph --graph/executor--> states
//	                                                              |
//	v1.BundleStatus, []Event  <--Status, ResourceEvents-- Report -+
//
// Compile is a list of small passes over the resources, one file each:
// decoding, identity, reserved metadata, references, secrets, examples. Every
// pass reports all it finds, so that an author sees every problem at once.
// What a resource refers to is parsed once; a render copies only the branches
// of the object that hold a reference. Everything here is a pure function: no
// cluster is read or written, and the same Bundle gives the same graph, the
// same problems and the same messages.
package bundle
