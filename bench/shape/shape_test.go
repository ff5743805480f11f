package shape_test

import (
	"encoding/json"
	"testing"

	"github.com/truss-dev/truss/bench/shape"
	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
)

func TestShapesCompileToWhatTheirNamesSay(t *testing.T) {
	for name, c := range map[string]struct {
		bundle              *v1.Bundle
		nodes, path, static int
		reason              string
	}{
		"wide":  {shape.Wide(10, 1), 10, 1, 10, "nothing waits for anything"},
		"chain": {shape.Chain(10), 10, 10, 10, "each waits for the one before"},
		"fed":   {shape.Fed(10), 10, 2, 9, "one reads a value of another one"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := bundle.Compile(c.bundle)
			if err != nil {
				t.Fatal(err)
			}
			static := 0
			for i := range g.Len() {
				if g.At(i).Payload.Static {
					static++
				}
			}
			if g.Len() != c.nodes || len(g.CriticalPath()) != c.path || static != c.static {
				t.Errorf("%d nodes, critical path %d, %d static; want %d, %d, %d: %s",
					g.Len(), len(g.CriticalPath()), static, c.nodes, c.path, c.static, c.reason)
			}
		})
	}
}

func TestARevisionChangesEveryObject(t *testing.T) {
	one, again, two := shape.Wide(5, 1), shape.Wide(5, 1), shape.Wide(5, 2)
	if a, b := text(t, one), text(t, again); a != b {
		t.Errorf("the same shape twice:\n%s\n%s", a, b)
	}
	for i := range one.Spec.Resources {
		if string(one.Spec.Resources[i].Spec.Object.Raw) == string(two.Spec.Resources[i].Spec.Object.Raw) {
			t.Errorf("resource %d is the same in both revisions", i)
		}
	}
}

func text(t *testing.T, b *v1.Bundle) string {
	t.Helper()
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
