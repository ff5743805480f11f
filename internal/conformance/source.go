package conformance

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Tests are the test functions of a repository.
type Tests struct {
	// functions by package directory.
	functions map[string]map[string]bool
	// names that sub-tests may have, by package directory.
	names map[string]map[string]bool
}

var testFunction = regexp.MustCompile(`^(Test|Fuzz|Example)`)

// Load reads the test files below the root of a module. Leaf modules and
// hidden directories are passed over. O(size of the test files).
func Load(root fs.FS) (*Tests, error) {
	t := &Tests{functions: map[string]map[string]bool{}, names: map[string]map[string]bool{}}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() && path.Base(path.Dir(name)) == "testdata":
			t.add(t.names, path.Dir(path.Dir(name)), d.Name())
			return nil
		case strings.HasSuffix(name, "_test.go"):
			return t.read(root, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the tests: %w", err)
	}
	return t, nil
}

func (t *Tests) read(root fs.FS, name string) error {
	content, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, content, 0)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && testFunction.MatchString(n.Name.Name) {
				t.add(t.functions, dir, n.Name.Name)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil {
				t.add(t.names, dir, text)
			}
		}
		return true
	})
	return nil
}

func (t *Tests) add(to map[string]map[string]bool, dir, name string) {
	if to[dir] == nil {
		to[dir] = map[string]bool{}
	}
	to[dir][name] = true
}

// Has says whether a test exists: "package.Test" or "package.Test/Sub".
func (t *Tests) Has(name string) bool {
	function, sub, nested := strings.Cut(name[strings.LastIndex(name, ".")+1:], "/")
	dir := strings.TrimSuffix(strings.TrimSuffix(name, "/"+sub), "."+function)
	return t.functions[dir][function] && (!nested || t.names[dir][sub])
}

// Check lists what is wrong with the table: first, in its own order, cases without
// a test or reason and tests that do not exist, then cases that are missing,
// doubled or unknown.
func Check(rows []Row, t *Tests) []string {
	var wrong []string
	count := map[string]int{}
	for _, r := range rows {
		count[r.ID]++
		wrong = append(wrong, t.check(r)...)
	}
	for _, id := range IDs() {
		if count[id] != 1 {
			wrong = append(wrong, fmt.Sprintf("%s has %d rows", id, count[id]))
		}
		delete(count, id)
	}
	for _, id := range slices.Sorted(maps.Keys(count)) {
		wrong = append(wrong, id+" is no case")
	}
	return wrong
}

func (t *Tests) check(r Row) (wrong []string) {
	if len(r.Tests) == 0 && strings.TrimSpace(r.Reason) == "" {
		wrong = append(wrong, r.ID+" names no test and no reason")
	}
	for _, name := range r.Tests {
		if !t.Has(name) {
			wrong = append(wrong, fmt.Sprintf("%s: there is no test %s", r.ID, name))
		}
	}
	return wrong
}
