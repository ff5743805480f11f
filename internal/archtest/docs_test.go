package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	rowPaths    = regexp.MustCompile("(?m)^\\| ((?:`[a-z0-9/]+`(?:, )?)+) \\|")
	codeSpan    = regexp.MustCompile("`([^`]+)`")
	makeTargets = regexp.MustCompile("(?m)(?:^|`)make((?: [a-z][a-z-]*)+)")
	ruleTargets = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	links       = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

// tablePaths are the folders in the first column of a page's tables.
func tablePaths(page string) []string {
	var paths []string
	for _, row := range rowPaths.FindAllStringSubmatch(page, -1) {
		for _, span := range codeSpan.FindAllStringSubmatch(row[1], -1) {
			paths = append(paths, span[1])
		}
	}
	return paths
}

// makes are the targets that a page tells its reader to make.
func makes(page string) []string {
	var targets []string
	for _, m := range makeTargets.FindAllStringSubmatch(page, -1) {
		targets = append(targets, strings.Fields(m[1])...)
	}
	return targets
}

func TestPagesAreReadAsTheirReadersDo(t *testing.T) {
	page := "| `graph`, `graph/executor` | text `other` | `x` |\nUse `make` or `make test lint`.\n\n```sh\nmake demo    # see\n```\nmake it so\n"
	if diff := cmp.Diff([]string{"graph", "graph/executor"}, tablePaths(page)); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"test", "lint", "demo", "it", "so"}, makes(page)); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

func TestArchitectureNamesFoldersThatExist(t *testing.T) {
	dir := root(t)
	page, err := os.ReadFile(filepath.Join(dir, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths := tablePaths(string(page))
	if len(paths) < 10 {
		t.Fatalf("found only %q in the table of packages", paths)
	}
	for _, p := range paths {
		if info, err := os.Stat(filepath.Join(dir, p)); err != nil || !info.IsDir() {
			t.Errorf("docs/architecture.md describes %s, which is not there", p)
		}
	}
}

// markdown lists the pages that people read, by their path below dir.
func markdown(t *testing.T, dir string) []string {
	t.Helper()
	pages := []string{"README.md"}
	err := fs.WalkDir(os.DirFS(dir), "docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestPagesLinkToWhatExists(t *testing.T) {
	dir := root(t)
	for _, page := range markdown(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(dir, filepath.Dir(page), link[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, link[1])
			}
		}
	}
}

func TestPagesNameTargetsOfTheMakefile(t *testing.T) {
	dir := root(t)
	makefile, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, rule := range ruleTargets.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, rule[1])
	}
	for _, page := range append(markdown(t, dir), ".ci/run") {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range makes(string(text)) {
			if !slices.Contains(targets, target) {
				t.Errorf("%s says make %s, of which the Makefile knows nothing", page, target)
			}
		}
	}
}
