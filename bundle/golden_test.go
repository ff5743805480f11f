package bundle

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/readiness"
)

var update = flag.Bool("update", false, "rewrite the want.yaml files in testdata")

// goldenIn is testdata/<case>/in.yaml: a Bundle and what was observed.
type goldenIn struct {
	Reason  string                      `json:"reason"`
	Bundle  v1.Bundle                   `json:"bundle"`
	Live    map[string]map[string]any   `json:"live"`
	Outputs map[string]readiness.Output `json:"outputs"`
	// OutputObjects are what the outputs name, by resource.
	OutputObjects map[string]map[string]any `json:"outputObjects"`
}

// goldenWant is testdata/<case>/want.yaml: what Compile and each render give.
type goldenWant struct {
	Problems []goldenProblem `json:"problems,omitempty"`
	Nodes    []goldenNode    `json:"nodes,omitempty"`
	Order    []string        `json:"order,omitempty"`
}

type goldenProblem struct {
	Reason  string `json:"reason"`
	Node    string `json:"node,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

type goldenNode struct {
	ID         string          `json:"id"`
	Identity   string          `json:"identity"`
	Version    string          `json:"version"`
	Needs      []string        `json:"needs,omitempty"`
	Static     bool            `json:"static,omitempty"`
	SecretData bool            `json:"secretData,omitempty"`
	Object     map[string]any  `json:"object,omitempty"`
	Waits      string          `json:"waits,omitempty"`
	Invalid    []goldenProblem `json:"invalid,omitempty"`
	Example    map[string]any  `json:"example,omitempty"`
}

func TestCompileGivesTheGoldenGraphsAndProblems(t *testing.T) {
	for dir, c := range allCases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got, err := yaml.Marshal(observe(t, c))
			if err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(dir, "want.yaml")
			if *update {
				if err := os.WriteFile(want, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			expected, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(expected, got) {
				t.Errorf("%s\n(-want +got):\n%s", c.Reason, cmp.Diff(string(expected), string(got)))
			}
		})
	}
}

// allCases reads testdata, by directory.
func allCases(t testing.TB) map[string]*goldenIn {
	t.Helper()
	files, err := filepath.Glob("testdata/*/in.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	out := map[string]*goldenIn{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := &goldenIn{}
		if err := yaml.UnmarshalStrict(data, c); err != nil {
			t.Fatalf("cannot read %s: %v", file, err)
		}
		if c.Reason == "" {
			t.Fatalf("%s does not say its reason", file)
		}
		out[filepath.Dir(file)] = c
	}
	return out
}

func observe(t *testing.T, c *goldenIn) goldenWant {
	t.Helper()
	g, err := Compile(&c.Bundle)
	if err != nil {
		return goldenWant{Problems: problemsOf(t, err)}
	}
	var want goldenWant
	for i := range g.Len() {
		want.Nodes = append(want.Nodes, observeNode(t, c, g, i))
	}
	for _, i := range g.Order() {
		want.Order = append(want.Order, string(g.At(int(i)).ID))
	}
	return want
}

func observeNode(t *testing.T, c *goldenIn, g *resource.Graph, i int) goldenNode {
	t.Helper()
	n := g.At(i)
	got := goldenNode{
		ID: string(n.ID), Identity: n.Payload.Identity.String(), Version: n.Payload.Version, Static: n.Payload.Static,
	}
	for k, need := range g.Needs(i) {
		got.Needs = append(got.Needs, string(g.At(int(need)).ID)+" "+g.NeedReason(i, k).String())
	}
	rendered, err := n.Payload.Render(t.Context(), observed{c})
	var wait *resource.WaitError
	switch {
	case errors.As(err, &wait):
		got.Waits = wait.Message
	case err != nil:
		got.Invalid = problemsOf(t, err)
	default:
		got.Object, got.SecretData = rendered.Object.Object, rendered.SecretData
	}
	if n.Payload.Example != nil {
		rendered, err := n.Payload.Example(t.Context(), nil)
		if err != nil {
			t.Errorf("an example that compiled does not render: %v", err)
		} else {
			got.Example = rendered.Object.Object
		}
	}
	return got
}

// problemsOf splits a joined error; each part must be an InvalidError.
func problemsOf(t *testing.T, err error) []goldenProblem {
	t.Helper()
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []goldenProblem
		for _, e := range joined.Unwrap() {
			out = append(out, problemsOf(t, e)...)
		}
		return out
	}
	var invalid *resource.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("not an InvalidError: %v", err)
	}
	return []goldenProblem{{Reason: invalid.Reason, Node: invalid.Node, Field: invalid.Field, Message: invalid.Message}}
}

// observed serves a case's objects as render inputs.
type observed struct{ c *goldenIn }

func (o observed) Object(need graph.ID) *unstructured.Unstructured {
	return wrap(o.c.Live[string(need)])
}

func (o observed) Output(need graph.ID) (readiness.Output, bool) {
	output, ok := o.c.Outputs[string(need)]
	return output, ok
}

func (o observed) OutputObject(_ context.Context, need graph.ID) (*unstructured.Unstructured, error) {
	return wrap(o.c.OutputObjects[string(need)]), nil
}

func wrap(object map[string]any) *unstructured.Unstructured {
	if object == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: object}
}
