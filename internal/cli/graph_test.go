package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// graphOf runs `truss graph` without any cluster.
func graphOf(t *testing.T, in string, args ...string) (out, warnings string, err error) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	c := NewGraph()
	var stdout, stderr bytes.Buffer
	c.SetOut(&stdout)
	c.SetErr(&stderr)
	c.SetIn(strings.NewReader(in))
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	err = c.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

func TestGraphOfFilesIsDrawn(t *testing.T) {
	for _, format := range []string{"text", "dot", "mermaid", "json"} {
		out, _, err := graphOf(t, "", "-f", "testdata/shop.yaml", "-o", format)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "shop."+format)
		if *update {
			if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
	}
}

func TestGraphReportsEveryMistake(t *testing.T) {
	data, err := os.ReadFile("testdata/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.NewReplacer("resource: lone", "resource: alone", "kind: Deployment", "kind: ''").Replace(string(data))
	out, warnings, err := graphOf(t, broken, "-f", "-")
	want := `Bundle default/shop: spec.resources[0].spec.object.kind: resource "web": it is missing or not a string; every object needs it
Bundle default/shop: spec.resources[2].references[1].resource: resource "extra": resource "alone" is not in the Bundle; add it or correct the name
`
	if diff := cmp.Diff(want, warnings); diff != "" || out != "" {
		t.Errorf("(-want +got):\n%s\nout: %s", diff, out)
	}
	if err == nil || err.Error() != "cannot print every graph: 2 problems" {
		t.Error(err)
	}
}

func TestGraphArgumentsAreChecked(t *testing.T) {
	two := named("a") + "---\n" + named("b")
	cases := []struct {
		reason, want string
		args         []string
	}{
		{"nothing to show", "you must say which Bundle: bundle/NAME, or -f FILE", nil},
		{"an unknown format", `cannot print as "svg": -o takes text, dot, mermaid or json`, []string{"-f", "-", "-o", "svg"}},
		{"a Mermaid chart has one graph", "cannot print 2 Bundles as one Mermaid chart: pick one with bundle/NAME", []string{"-f", "-", "-o", "mermaid"}},
		{"a Bundle that is not in the file", `cannot find Bundle "c" in ["-"]`, []string{"-f", "-", "bundle/c"}},
		{"a file that is not there", "cannot read the file: open testdata/none: no such file or directory", []string{"-f", "testdata/none"}},
		{"one of several can be picked", "", []string{"-f", "-", "bdl", "b", "-o", "mermaid"}},
	}
	for _, c := range cases {
		_, _, err := graphOf(t, two, c.args...)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestTargetIsReadAsKubectlReadsIt(t *testing.T) {
	cases := []struct {
		args       string
		name, want string
	}{
		{"bundle/a", "a", ""},
		{"bundles/a", "a", ""},
		{"bdl a", "a", ""},
		{"Bundle.smith.atlassian.com/a", "a", ""},
		{"bundles.v1.smith.atlassian.com a", "a", ""},
		{"a", "", "you must say kind and name: bundle/a"},
		{"pod/a", "", `cannot show resource type "pod": it must be bundle`},
		{"bundle/", "", `cannot show "bundle/": it must be bundle/NAME, with one slash and a name`},
		{"bundle/a/b", "", `cannot show "bundle/a/b": it must be bundle/NAME, with one slash and a name`},
		{"", "", "you must say which Bundle: bundle/NAME"},
	}
	for _, c := range cases {
		name, err := parseTarget(strings.Fields(c.args))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if name != c.name || got != c.want {
			t.Errorf("%q: %q, %q", c.args, name, got)
		}
	}
}
