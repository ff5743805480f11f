package readiness

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func withReadyWhen(t testing.TB, expr, rest string) *unstructured.Unstructured {
	t.Helper()
	obj := widgetObject(t, rest)
	obj.SetAnnotations(map[string]string{ReadyWhen: expr})
	return obj
}

func TestReadyWhenDecides(t *testing.T) {
	const status = "status: {phase: Up, n: null, count: 3, list: [], conditions: [{type: Ready, status: 'True'}]}"
	isReady := verdict{status: Ready, reason: ReasonExpression}
	waits := func(message string) verdict { return verdict{reason: ReasonExpression, message: message} }
	wrong := func(message string) verdict {
		return verdict{reason: ReasonInvalidRule, broken: true, message: message}
	}
	cases := map[string]struct {
		reason, expr string
		want         verdict
	}{
		"Exists":       {"the opt-out", "Exists", verdict{status: Ready, reason: ReasonExists}},
		"True":         {"holds", "self.status.phase == 'Up'", isReady},
		"False":        {"does not hold", "self.status.phase == 'Down'", waits(`"self.status.phase == 'Down'" is false`)},
		"Number":       {"integers compare", "self.status.count >= 3", isReady},
		"Has":          {"macros", "has(self.status.phase)", isReady},
		"Conditions":   {"conditions", "self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", isReady},
		"Filter":       {"filter", "self.status.conditions.filter(c, c.type == 'Ready').size() == 1", isReady},
		"In":           {"a list of constants", "self.status.phase in ['Up', 'Running']", isReady},
		"MissingKey":   {"a missing field is not yet", "self.status.endpoint != ''", waits("not there yet: no such key: endpoint")},
		"MissingDeep":  {"null on the way is not yet", "self.status.n.x == 1", waits("not there yet")},
		"MissingIndex": {"an index out of range is not yet", "self.status.list[0] == 1", waits("not there yet: index out of bounds")},
		"Empty":        {"nothing stated", " ", wrong("is empty")},
		"Syntax":       {"a syntax error, with its column", "self.status.", wrong("column 13: ")},
		"Undeclared":   {"an unknown name", "object.status == 1", wrong("undeclared reference")},
		"NotBool":      {"a number, known when compiled", "size(self)", wrong("must give true or false")},
		"NotBoolLate":  {"a text, known when evaluated", "self.status.phase", wrong("must give true or false")},
		"BadType":      {"a comparison that cannot work", "self.status.phase > 1", wrong("no such overload")},
		"TooLong":      {"bounded length", "true" + strings.Repeat(" || true", 600), wrong("longer than 4096 bytes")},
		"TooCostly":    {"bounded cost", nested(9), wrong("cost limit exceeded")},
		"Amplified":    {"values that grow in a few bytes", "[1].exists(a, [[a, a]].exists(b, [b, b] == [b, b]))", wrong("only constants")},
		"AmplifiedMap": {"in maps too", "[1].exists(a, {'x': a + a} == {'x': 2})", wrong("only constants")},
		"MapMacro":     {"map builds values, which is not needed", "self.status.conditions.map(c, c.type) == []", wrong("undeclared reference")},
	}
	e := NewEvaluator()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			obj := withReadyWhen(t, c.expr, status)
			first := e.Evaluate(obj, rulesOf(t, "v1", stateRule), Related{})
			checkVerdict(t, c.reason, c.want, first)
			checkVerdict(t, "the cached program says the same", c.want, e.Evaluate(obj, nil, Related{}))
		})
	}
}

// nested is a loop over 10^depth values.
func nested(depth int) string {
	expr := "true"
	for i := range depth {
		expr = fmt.Sprintf("[0,1,2,3,4,5,6,7,8,9].all(x%d, %s)", i, expr)
	}
	return expr
}

// Comparing large values costs what it compares, also in a loop.
func TestComparisonsOfLargeValuesAreCharged(t *testing.T) {
	obj := withReadyWhen(t, "self.items.all(x, self == self)", "spec: {}")
	items := make([]any, 20_000)
	for i := range items {
		items[i] = map[string]any{"a": int64(i)}
	}
	obj.Object["items"] = items
	start := time.Now()
	checkVerdict(t, "stopped", verdict{reason: ReasonInvalidRule, broken: true, message: "cost limit exceeded"}, NewEvaluator().Evaluate(obj, nil, Related{}))
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the evaluation took %s", took)
	}
}

func TestReadyWhenOfASecretShowsNoValue(t *testing.T) {
	e := NewEvaluator()
	for _, expr := range []string{"self.data[self.data.password] == 'x'", "self.data.password > 1", "int(self.data.password) == 1", "timestamp(self.data.password) < timestamp('2020-01-01T00:00:00Z')"} {
		obj := object(t, "{apiVersion: v1, kind: Secret, data: {password: Y2FuYXJ5}}")
		obj.SetAnnotations(map[string]string{ReadyWhen: expr})
		got := e.Evaluate(obj, nil, Related{})
		if got.Status == Ready || strings.Contains(got.Message, "Y2FuYXJ5") || strings.Contains(got.Message, "canary") {
			t.Errorf("%s: %+v", expr, got)
		}
	}
}

func TestReadyWhenNeverWaitsForTheOutput(t *testing.T) {
	rules := rulesOf(t, "v1", outputRule)
	obj := object(t, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {namespace: ns, uid: u1, annotations: {truss.dev/ready-when: Exists}}")
	rel := Related{Owned: []*unstructured.Unstructured{binding(t, "k", "v1", "{uid: u1}", "status: {secretName: s}")}}
	checkVerdict(t, "no output yet", verdict{status: Ready, reason: ReasonExists}, NewEvaluator().Evaluate(obj, rules, rel))
	rel.OutputExists = existingOutputs("Secret/s")
	checkVerdict(t, "the output is handed on", verdict{status: Ready, reason: ReasonExists, output: &Output{Kind: "Secret", Name: "s"}}, NewEvaluator().Evaluate(obj, rules, rel))
}

func TestExpressionCacheIsBoundedAndConcurrent(t *testing.T) {
	c := newExpressionCache(8)
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 40 {
				if _, err := c.program(fmt.Sprintf("self.x == %d", (i+w)%20)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if c.order.Len() != 8 || len(c.entries) != 8 {
		t.Errorf("the cache holds %d entries and %d keys, want 8", c.order.Len(), len(c.entries))
	}
	if _, err := c.program("self.hot"); err != nil {
		t.Fatal(err)
	}
	for i := range 7 {
		if _, err := c.program(fmt.Sprintf("self.y == %d", i)); err != nil {
			t.Fatal(err)
		}
		c.lookup("self.hot")
	}
	if c.lookup("self.hot") == nil {
		t.Error("the entry used last was dropped")
	}
}
