package bundle

import (
	"encoding/json"
	"errors"
	"testing"

	kjson "k8s.io/apimachinery/pkg/util/json"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// FuzzCompile holds N26: no content of a Bundle, and nothing that its
// objects look like live, panics compile, render, example or status.
func FuzzCompile(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		f.Add(seed, []byte(`{"status":{"endpoint":"x","list":[1,null,{}]},"data":{"password":"czNj"}}`))
	}
	f.Fuzz(func(t *testing.T, spec, live []byte) {
		b := &v1.Bundle{}
		b.Namespace = "shop"
		if err := json.Unmarshal(spec, &b.Spec); err != nil {
			return
		}
		var object map[string]any
		if err := kjson.Unmarshal(live, &object); err != nil {
			return
		}
		g, err := Compile(b)
		if err != nil {
			checkRefusal(t, b, err)
			return
		}
		renderAll(t, b, g, object)
	})
}

func fuzzSeeds(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	for _, c := range allCases(f) {
		spec, err := json.Marshal(c.Bundle.Spec)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, spec)
	}
	return out
}

func checkRefusal(t *testing.T, b *v1.Bundle, err error) {
	t.Helper()
	for _, e := range split(err) {
		var invalid *resource.InvalidError
		if !errors.As(e, &invalid) || invalid.Reason == "" || invalid.Message == "" {
			t.Fatalf("a problem that says nothing: %#v", e)
		}
	}
	s := Status(nil, Refused(b, err), noon)
	if data, err := json.Marshal(s); err != nil || len(data) > maxStatus {
		t.Fatalf("a status of %d bytes: %v", len(data), err)
	}
}

func renderAll(t *testing.T, b *v1.Bundle, g *resource.Graph, object map[string]any) {
	t.Helper()
	in := &goldenIn{Bundle: *b, Live: map[string]map[string]any{}, OutputObjects: map[string]map[string]any{}}
	for i := range g.Len() {
		in.Live[string(g.At(i).ID)] = object
		in.OutputObjects[string(g.At(i).ID)] = object
	}
	report := Report{}
	for i := range g.Len() {
		n := g.At(i)
		rendered, err := n.Payload.Render(t.Context(), observed{in})
		row := NodeReport{Name: string(n.ID), State: graph.Ready}
		if err != nil {
			row.State, row.Message = graph.Error, err.Error()
		} else if rendered.Object == nil || rendered.Object.GetName() != n.Payload.Identity.Name {
			t.Fatalf("%s renders another object than its identity: %v", n.ID, rendered.Object)
		}
		report.Nodes = append(report.Nodes, row)
		if n.Payload.Example == nil {
			continue
		}
		if _, err := n.Payload.Example(t.Context(), nil); err != nil {
			t.Fatalf("an example that compiled does not render: %v", err)
		}
	}
	Status(nil, report, noon)
}
