package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is one thing that no package may do.
type Rule struct {
	// Name is what a violation is called, in lower-case-and-dashes.
	Name string
	// Reason tells the reader of a violation why the rule is there.
	Reason string
	// Find returns what in p breaks the rule, one short line each.
	Find func(p Package) []string
}

// Violation is one place where the repository breaks a rule.
type Violation struct {
	Rule    string
	Package string
	// What is the thing found, such as "file.go imports net/http".
	What   string
	Reason string
}

// String is the violation as a sentence.
func (v Violation) String() string {
	return fmt.Sprintf("%s: %s: %s (%s)", v.Rule, v.Package, v.What, v.Reason)
}

// Check holds every package to every rule and returns what it found, sorted.
func Check(pkgs []Package, rules []Rule) []Violation {
	var found []Violation
	for _, p := range pkgs {
		for _, r := range rules {
			for _, what := range r.Find(p) {
				found = append(found, Violation{Rule: r.Name, Package: p.Path, What: what, Reason: r.Reason})
			}
		}
	}
	slices.SortFunc(found, func(a, b Violation) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// imports is a Find that names each import of a file that forbidden refuses.
// rel is the folder of the importing package below the module. Files of tests
// are left out: they may drive what they test.
func imports(forbidden func(rel string, f File, imported string) bool) func(Package) []string {
	return func(p Package) []string {
		rel, ok := local(p.Path)
		if !ok {
			return nil
		}
		var found []string
		for _, f := range p.Files {
			for _, i := range f.Imports {
				if !f.test() && forbidden(rel, f, i) {
					found = append(found, fmt.Sprintf("%s imports %s", f.Name, i))
				}
			}
		}
		return found
	}
}

// depends is a Find that names each package of the transitive closure that
// forbidden refuses.
func depends(forbidden func(rel string, d Dep) bool) func(Package) []string {
	return func(p Package) []string {
		rel, ok := local(p.Path)
		if !ok {
			return nil
		}
		var found []string
		for _, d := range p.Deps {
			if forbidden(rel, d) {
				found = append(found, "depends on "+d.Path)
			}
		}
		return found
	}
}
