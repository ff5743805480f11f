package executor

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

func TestAPanicEndsTheLookAtOneObjectOnly(t *testing.T) {
	var logged strings.Builder
	log := funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{})
	id := resource.Identity{Kind: "ConfigMap", Namespace: "ns", Name: "poison"}
	v, changed := guarded(log, id, func() (*verdict, bool) { panic("quoted data") })
	if v == nil || v.state != graph.Error || v.terminal || v.reason != ReasonPanic || changed {
		t.Fatalf("guarded() = %+v, %v, want a retriable error of reason %s", v, changed, ReasonPanic)
	}
	if v.retry != slowRetryMax {
		t.Errorf("retry = %s, want %s: a bug is not mended by haste", v.retry, slowRetryMax)
	}
	if strings.Contains(v.message, "quoted data") || !strings.Contains(v.message, "poison") {
		t.Errorf("message = %q, want the object, and nothing of the panic's value", v.message)
	}
	if !strings.Contains(logged.String(), "quoted data") || !strings.Contains(logged.String(), "panic_test.go") {
		t.Errorf("log = %q, want the value and the stack", logged.String())
	}
}

func TestALookWithoutAPanicIsLeftAlone(t *testing.T) {
	want := &verdict{state: graph.Ready}
	if v, changed := guarded(funcr.New(func(_, _ string) { t.Error("nothing is to be logged") }, funcr.Options{}),
		resource.Identity{}, func() (*verdict, bool) { return want, true }); v != want || !changed {
		t.Errorf("guarded() = %+v, %v, want what the look gave", v, changed)
	}
}
