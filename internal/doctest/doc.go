// Package doctest keeps the pages for users true. It has tests only.
//
//	README.md, docs/*.md --> blocks below a mark --> API server, dry-run
//	                    \-> tables, headings ----> constants and flags of the code
//
// An author marks a fenced block with an HTML comment in the line above it,
// which no reader sees:
//
//	<!-- test:apply -->      the API server accepts the objects; Bundles compile,
//	                         and so are the objects that they hold
//	<!-- test:kustomize -->  kustomize builds the overlay, with the repository in
//	                         the folder truss
//	<!-- test:cel -->        each line is a valid truss.dev/ready-when
//
// CustomResourceDefinitions and namespaces of the pages are applied for good
// first, so that objects of these kinds can be judged.
package doctest
