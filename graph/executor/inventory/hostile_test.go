package inventory_test

import (
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/truss-dev/truss/graph/executor/inventory"
)

func TestReverseSurvivesAnyNewestPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plans := append([]*inventory.Plan{drawPlan(t, false)}, drawPlans(t, false)...)
		for i := range plans[0].Entries {
			plans[0].Entries[i].Depth = rapid.Int32Range(-1, 3).Draw(t, "depth")
		}
		if rapid.Bool().Draw(t, "repeated") && len(plans[0].Entries) > 1 {
			plans[0].Entries[1].Identity = plans[0].Entries[0].Identity
		}
		g, err := inventory.Reverse(plans, everything)
		if err != nil {
			t.Fatalf("Reverse() = %v", err)
		}
		checkObjects(t, plans, g)
	})
}

func TestDecodeDoesNotInflateLists(t *testing.T) {
	const limit = 400 << 20
	for _, element := range []string{"{}", "null"} {
		for _, text := range []string{`{"kinds":[{}],"entries":[`, `{"kinds":[`} {
			bomb := zipped(t, text+element+strings.Repeat(","+element, 1<<21)+"]}")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := inventory.Decode(inventory.Format, bomb)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "it lists over") {
				t.Errorf("Decode() of %s%s... = %v, want it to stop", text, element, err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > limit {
				t.Errorf("Decode() of %s%s... allocated %d MB, want at most %d", text, element, got>>20, limit>>20)
			}
		}
	}
}
