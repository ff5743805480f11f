package bundle

import (
	"fmt"
	"testing"
	"time"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
)

// BenchmarkCompile5000ConfigMaps is design section 14's wide Bundle.
func BenchmarkCompile5000ConfigMaps(b *testing.B) {
	resources := make([]v1.Resource, 5000)
	for i := range resources {
		resources[i] = configMap(fmt.Sprintf("cm-%04d", i), `{"key":"value"}`)
	}
	bundle := bundleOf(resources...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(bundle); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompileChain2000 has a reference and a placeholder in each.
func BenchmarkCompileChain2000(b *testing.B) {
	resources := make([]v1.Resource, 2000)
	resources[0] = configMap("c0000", `{"k":"v"}`)
	for i := 1; i < len(resources); i++ {
		resources[i] = configMap(fmt.Sprintf("c%04d", i), `{"k":"!{x}"}`,
			v1.Reference{Name: "x", Resource: fmt.Sprintf("c%04d", i-1), Path: "data.k"})
	}
	bundle := bundleOf(resources...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(bundle); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRenderThreePlaceholders renders one object from live values.
func BenchmarkRenderThreePlaceholders(b *testing.B) {
	in := observed{&goldenIn{Live: map[string]map[string]any{
		"db": {"status": map[string]any{"host": "h", "port": int64(5432), "labels": map[string]any{"a": "b"}}},
	}}}
	g, err := Compile(bundleOf(
		configMap("db", `{}`),
		configMap("web", `{"url":"http://!{host}:!{port}","labels":"!{labels}","static":{"a":["b","c"]}}`,
			v1.Reference{Name: "host", Resource: "db", Path: "status.host"},
			v1.Reference{Name: "port", Resource: "db", Path: "status.port"},
			v1.Reference{Name: "labels", Resource: "db", Path: "status.labels"}),
	))
	if err != nil {
		b.Fatal(err)
	}
	render := g.At(1).Payload.Render
	b.ReportAllocs()
	for b.Loop() {
		if _, err := render(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStatus5000 is one progress write of the wide Bundle.
func BenchmarkStatus5000(b *testing.B) {
	report := Report{Nodes: make([]NodeReport, 5000)}
	for i := range report.Nodes {
		report.Nodes[i] = NodeReport{Name: fmt.Sprintf("cm-%04d", i), State: graph.State(1 + i%2), Message: "waits"}
	}
	b.ReportAllocs()
	for b.Loop() {
		Status(nil, report, time.Time{})
	}
}
