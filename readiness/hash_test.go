package readiness

import "testing"

func TestSpecHashIgnoresMetadataAndStatus(t *testing.T) {
	base := SpecHash(widgetObject(t, "metadata: {name: a, generation: 1}\nspec: {a: 1, b: {c: [x]}}\nstatus: {state: Ready}"))
	if len(base) != 32 {
		t.Fatalf("hash %q", base)
	}
	cases := map[string]struct {
		reason, object string
		same           bool
	}{
		"Status":    {"a status write raises the generation of kinds without subresource", "metadata: {name: a, generation: 2}\nspec: {a: 1, b: {c: [x]}}\nstatus: {state: Gone}", true},
		"KeyOrder":  {"key order says nothing", "spec: {b: {c: [x]}, a: 1}", true},
		"Spec":      {"a change of the spec", "spec: {a: 2, b: {c: [x]}}", false},
		"OtherRoot": {"fields outside spec count too", "spec: {a: 1, b: {c: [x]}}\ndata: {k: v}", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := SpecHash(widgetObject(t, c.object)); (got == base) != c.same {
				t.Errorf("%s: %q against %q", c.reason, got, base)
			}
		})
	}
	if SpecHash(nil) != "" {
		t.Error("nil has no hash")
	}
}
