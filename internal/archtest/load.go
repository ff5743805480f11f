package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listed is the part of `go list -json` that Load needs.
type listed struct {
	ImportPath   string
	Dir          string
	Standard     bool
	DepOnly      bool
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Deps         []string
}

// Load lists the packages of the module in dir, which is the repository's
// root, sorted by import path. Packages that do not compile are listed as far
// as their import declarations can be read; finding out is the compiler's
// task. It runs `go list` once and parses each file's head.
func Load(ctx context.Context, dir string) ([]Package, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps",
		"-json=ImportPath,Dir,Standard,DepOnly,GoFiles,TestGoFiles,XTestGoFiles,Deps", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the packages in %q: %w: %s", dir, err, stderr.String())
	}
	all, err := decode(out)
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of packages in %q: %w", dir, err)
	}
	standard := make(map[string]bool, len(all))
	for _, l := range all {
		standard[l.ImportPath] = l.Standard
	}
	var pkgs []Package
	for _, l := range all {
		if l.DepOnly || l.Standard {
			continue
		}
		p, err := l.load(standard)
		if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
	slices.SortFunc(pkgs, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return pkgs, nil
}

// decode reads the concatenated JSON objects that go list prints.
func decode(out []byte) ([]listed, error) {
	var all []listed
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var l listed
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

func (l listed) load(standard map[string]bool) (Package, error) {
	p := Package{Path: l.ImportPath}
	for _, d := range l.Deps {
		p.Deps = append(p.Deps, Dep{Path: d, Standard: standard[d]})
	}
	names := slices.Concat(l.GoFiles, l.TestGoFiles, l.XTestGoFiles)
	slices.Sort(names)
	for _, name := range names {
		f, err := loadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return Package{}, fmt.Errorf("cannot read a file of %q: %w", l.ImportPath, err)
		}
		p.Files = append(p.Files, f)
	}
	return p, nil
}

func loadFile(path string) (File, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return File{}, err
	}
	f := File{
		Name:      filepath.Base(path),
		Doc:       parsed.Doc.Text() != "",
		Generated: ast.IsGenerated(parsed),
		Lines:     bytes.Count(src, []byte("\n")),
	}
	for _, i := range parsed.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return File{}, err
		}
		f.Imports = append(f.Imports, imported)
	}
	slices.Sort(f.Imports)
	return f, nil
}
