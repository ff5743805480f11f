package archtest

import (
	"slices"
	"strings"
)

// Module is the path of the module the rules are about.
const Module = "github.com/truss-dev/truss"

// Package is what the rules see of one package of the module.
type Package struct {
	// Path is the import path.
	Path string
	// Files are the package's own Go files, tests included, sorted by name.
	Files []File
	// Deps are the import paths of everything the package needs when it is
	// built without its tests, itself excluded.
	Deps []Dep
}

// Dep is one package of the transitive closure.
type Dep struct {
	Path string
	// Standard says that it is part of the standard library.
	Standard bool
}

// File is one Go source file.
type File struct {
	Name string
	// Imports are the paths in its import declarations, sorted.
	Imports []string
	// Doc says that it carries a package doc comment.
	Doc bool
	// Generated says that it carries Go's "Code generated" line.
	Generated bool
	Lines     int
}

// test says whether the file is compiled for tests only.
func (f File) test() bool { return strings.HasSuffix(f.Name, "_test.go") }

// local returns the path of p below the module: "" for the root, "graph" for
// its folder graph, and ok=false for a package of another module.
func local(path string) (rel string, ok bool) {
	if path == Module {
		return "", true
	}
	return strings.CutPrefix(path, Module+"/")
}

// under says whether rel is one of the folders or lies below one.
func under(rel string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return rel == f || strings.HasPrefix(rel, f+"/")
	})
}
