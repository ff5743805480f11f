package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/truss-dev/truss/internal/cli/trace"
)

const minimal = "apiVersion: smith.atlassian.com/v1\nkind: Bundle\nmetadata: {name: %}\nspec:\n  resources: []\n"

func named(name string) string { return strings.ReplaceAll(minimal, "%", name) }

func TestBundlesArePickedFromDocuments(t *testing.T) {
	cases := []struct {
		reason, text string
		want         []string
	}{
		{"other kinds and empty documents are passed over", "# nothing\n---\nkind: ConfigMap\napiVersion: v1\n---\n" + named("a") + "---\n" + named("b"), []string{"a", "b"}},
		{"lists are opened", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: smith.atlassian.com/v1, kind: Bundle, metadata: {name: a}, spec: {resources: []}}\n- {apiVersion: v1, kind: Pod}\n", []string{"a"}},
		{"JSON is YAML", `{"apiVersion":"smith.atlassian.com/v1","kind":"Bundle","metadata":{"name":"a"},"spec":{"resources":[]}}`, []string{"a"}},
		{"a Bundle of another group is another kind", strings.Replace(named("a"), "smith.atlassian.com/v1", "fleet.example.com/v1", 1) + "---\n" + named("b"), []string{"b"}},
		{"scalars are no objects", "just text\n---\n" + named("a"), []string{"a"}},
	}
	for _, c := range cases {
		found, err := readFiles([]string{"-"}, strings.NewReader(c.text), "shop")
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
		}
		var names []string
		for _, b := range found {
			names = append(names, b.Name)
			if b.Namespace != "shop" {
				t.Errorf("%s: namespace %q", c.reason, b.Namespace)
			}
		}
		if diff := cmp.Diff(c.want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

func TestDocumentsAreReadStrictly(t *testing.T) {
	cases := []struct {
		reason, text string
		want         []string
	}{
		{"unknown fields, all of them", named("a") + "  colour: red\nsize: 3\n", []string{
			`standard input: document 1: Bundle "a": unknown field "size"`,
			`standard input: document 1: Bundle "a": unknown field "spec.colour"`,
		}},
		{"a field that is there twice", named("a") + "kind: Bundle\n", []string{
			`standard input: document 1: yaml: unmarshal errors:` + "\n" + `  line 6: key "kind" already set in map`,
		}},
		{"another case is another field", strings.Replace(named("a"), "resources", "Resources", 1), []string{
			`standard input: document 1: Bundle "a": unknown field "spec.Resources"`,
		}},
		{"a Bundle without a name", strings.Replace(named("a"), "name: a", "labels: {}", 1), []string{
			"standard input: document 1: metadata.name: the Bundle has no name",
		}},
		{"documents are counted, and all of them read", named("a") + "---\n" + named("b") + "x: 1\n---\n" + named("c") + "z: 1\n", []string{
			`standard input: document 2: Bundle "b": unknown field "x"`,
			`standard input: document 3: Bundle "c": unknown field "z"`,
		}},
		{"no Bundle", "kind: Pod\napiVersion: v1\n", []string{`cannot find a Bundle (smith.atlassian.com/v1) in ["-"]`}},
	}
	for _, c := range cases {
		_, err := readFiles([]string{"-"}, strings.NewReader(c.text), "shop")
		var got []string
		for _, e := range trace.Split(err) {
			got = append(got, e.Error())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

func FuzzDocuments(f *testing.F) {
	f.Add(named("a"))
	f.Add("a: &a [*a]\n---\n{")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := readDocuments("fuzz", strings.NewReader(text))
		for _, b := range found {
			if b.Name == "" && err == nil {
				t.Error("a Bundle without a name")
			}
		}
	})
}
