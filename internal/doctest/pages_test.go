package doctest

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// root is the repository, seen from this package.
const root = "../.."

// A block is a fenced block of a page below a mark.
type block struct {
	page string
	mark string
	text string
}

var marked = regexp.MustCompile("(?ms)^<!-- test:([a-z]+) -->\n```[a-z]+\n(.*?)^```$")

// blocksOf finds the marked blocks of a page.
func blocksOf(page, content string) []block {
	var out []block
	for _, m := range marked.FindAllStringSubmatch(content, -1) {
		out = append(out, block{page: page, mark: m[1], text: m[2]})
	}
	return out
}

// pages are the pages for users, by their path in the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"README.md": read(t, "README.md")}
	for _, path := range paths {
		name := "docs/" + filepath.Base(path)
		out[name] = read(t, name)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocks are the blocks of all pages with a mark, page by page. There must be
// some: a mark that nobody finds tests nothing.
func blocks(t *testing.T, mark string) []block {
	t.Helper()
	var out []block
	all := pages(t)
	for _, page := range slices.Sorted(maps.Keys(all)) {
		for _, b := range blocksOf(page, all[page]) {
			if b.mark == mark {
				out = append(out, b)
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no page has a block below <!-- test:%s -->", mark)
	}
	return out
}

// objects parses a stream of YAML documents.
func objects(t *testing.T, b block) []*unstructured.Unstructured {
	t.Helper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(b.text)), 4096)
	var out []*unstructured.Unstructured
	for {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v in\n%s", b.page, err, b.text)
		}
		out = append(out, u)
	}
}

// constants are the string constants of a package whose name matches, by
// name; its tests are left out.
func constants(t *testing.T, folder string, name *regexp.Regexp) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, file := range sources(t, folder) {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, id := range spec.Names {
				if i >= len(spec.Values) || !name.MatchString(id.Name) {
					continue
				}
				if value, ok := text(spec.Values[i]); ok {
					out[id.Name] = value
				}
			}
			return true
		})
	}
	if len(out) == 0 {
		t.Fatalf("%s has no constant that matches %s", folder, name)
	}
	return out
}

// literals are all texts that the code of a package spells out.
func literals(t *testing.T, folder string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, file := range sources(t, folder) {
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if value, ok := text(e); ok {
					out[value] = true
				}
			}
			return true
		})
	}
	return out
}

func text(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

func sources(t *testing.T, folder string) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, file)
	}
	return out
}

func TestBlocksAreFoundByTheirMark(t *testing.T) {
	page := "```yaml\na: 1\n```\n<!-- test:apply -->\n```yaml\nb: 2\n---\nc: 3\n```\n\n<!-- test:cel -->\n```text\nd\n```\n"
	got := blocksOf("p", page)
	if len(got) != 2 || got[0] != (block{"p", "apply", "b: 2\n---\nc: 3\n"}) || got[1] != (block{"p", "cel", "d\n"}) {
		t.Errorf("got %q", got)
	}
}

func TestEveryMarkIsUsedAboveABlock(t *testing.T) {
	for page, content := range pages(t) {
		if found, want := len(blocksOf(page, content)), strings.Count(content, "\n<!-- test:"); found != want {
			t.Errorf("%s has %d marks, but %d marked blocks: the fence must follow in the next line", page, want, found)
		}
	}
}
