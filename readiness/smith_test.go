package readiness

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const stateRule = `
smith.atlassian.com/CrReadyWhenFieldPath: "{$.status.state}"
smith.atlassian.com/CrReadyWhenFieldValue: Ready`

func widgetObject(t testing.TB, rest string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: example.com/v1\nkind: Widget\n"+rest)
}

func TestFieldRuleComparesThePrintedValue(t *testing.T) {
	rule := func(path, value string) string {
		return "smith.atlassian.com/CrReadyWhenFieldPath: '" + path + "'\nsmith.atlassian.com/CrReadyWhenFieldValue: '" + value + "'"
	}
	condition := `{$.status.conditions[?(@.type=="Ready")].status}`
	cases := map[string]struct {
		reason, rules, object string
		want                  verdict
	}{
		"S46 S95 Equal": {"the wanted value", stateRule, "status: {state: Ready}", verdict{status: Ready, reason: ReasonFieldValue, message: `CrReadyWhenFieldPath {.status.state} is "Ready"`}},
		"Other":         {"another value, which is named", stateRule, "status: {state: Creating}", verdict{reason: ReasonFieldValue, message: `must be "Ready", it is "Creating"`}},
		"Missing":       {"nothing there, and what is missing is named", stateRule, "spec: {}", verdict{reason: ReasonFieldValue, message: `"status" is not there yet`}},
		"Empty":         {"an empty text is not missing", stateRule, `status: {state: ""}`, verdict{reason: ReasonFieldValue, message: `it is ""`}},
		"Exact":         {"no trimming", stateRule, `status: {state: "Ready "}`, verdict{reason: ReasonFieldValue}},
		"S43 Bundle":    {"the Ready condition of a Bundle", rule(condition, "True"), `status: {conditions: [{type: Ready, status: "True"}]}`, verdict{status: Ready, reason: ReasonFieldValue}},
		"N04 NoBraces":  {"without braces", rule("status.state", "Ready"), "status: {state: Ready}", verdict{status: Ready, reason: ReasonFieldValue}},
		"N04 Bool":      {"a boolean", rule("status.ok", "true"), "status: {ok: true}", verdict{status: Ready, reason: ReasonFieldValue}},
		"N04 Int":       {"an integer", rule("status.num", "3"), "status: {num: 3}", verdict{status: Ready, reason: ReasonFieldValue}},
		"N04 Float":     {"1.0 prints as 1", rule("status.num", "1"), "status: {num: 1.0}", verdict{status: Ready, reason: ReasonFieldValue}},
		"N04 Index":     {"an index out of range waits", rule("status.l[3]", "x"), "status: {l: [a]}", verdict{reason: ReasonFieldValue, message: "not there yet"}},
		"N04 Several":   {"several hits are an error", rule("status.l[*]", "a b"), "status: {l: [a, b]}", verdict{reason: ReasonAmbiguousField, broken: true, message: "2 values"}},
		"N04 Shape":     {"an index into a text is an error", rule("status.l[0]", "a"), "status: {l: text}", verdict{reason: ReasonInvalidRule, broken: true, message: "a string"}},
		"S45 Unquoted":  {"an unquoted literal is an error before the list is filled", rule("{.status.conditions[?(@.type==Ready)].status}", "True"), "spec: {}", verdict{reason: ReasonInvalidRule, broken: true, message: `needs quotes`}},
		"BadSyntax":     {"a wrong expression is an error on the instance", rule("{.status[}", "x"), "spec: {}", verdict{reason: ReasonInvalidRule, broken: true, message: keyFieldPath}},
		"Terminating":   {"a ready object that is going", stateRule, "metadata: {deletionTimestamp: '2024-01-01T00:00:00Z'}\nstatus: {state: Ready}", verdict{reason: ReasonTerminating}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := NewEvaluator().Evaluate(widgetObject(t, c.object), rulesOf(t, "v1", c.rules), Related{})
			checkVerdict(t, c.reason, c.want, got)
		})
	}
}

// N02: after a change of the spec an old Ready must not release dependants.
func TestStaleReadyNeverCounts(t *testing.T) {
	path := stateRule + "\ntruss.dev/generation-path: status.seen"
	cases := map[string]struct {
		reason, version, rules, object string
		want                           verdict
	}{
		"Lag":         {"the status speaks of generation 1", "v1", stateRule, "metadata: {generation: 2}\nstatus: {observedGeneration: 1, state: Ready}", verdict{reason: ReasonStaleGeneration}},
		"Current":     {"it has caught up", "v1", stateRule, "metadata: {generation: 2}\nstatus: {observedGeneration: 2, state: Ready}", verdict{status: Ready, reason: ReasonFieldValue}},
		"TextLag":     {"a text is a number too", "v1", stateRule, "metadata: {generation: 10}\nstatus: {observedGeneration: '9', state: Ready}", verdict{reason: ReasonStaleGeneration}},
		"TextCurrent": {"and compares as one", "v1", stateRule, "metadata: {generation: 10}\nstatus: {observedGeneration: '10', state: Ready}", verdict{status: Ready, reason: ReasonFieldValue}},
		"Nonsense":    {"what is no number has not caught up", "v1", stateRule, "metadata: {generation: 1}\nstatus: {observedGeneration: soon, state: Ready}", verdict{reason: ReasonStaleGeneration}},
		"None":        {"without the field the status is taken as it stands", "v1", stateRule, "metadata: {generation: 2}\nstatus: {state: Ready}", verdict{status: Ready, reason: ReasonFieldValue}},
		"Condition":   {"the Ready condition may carry its own", "v1", stateRule, "metadata: {generation: 2}\nstatus: {state: Ready, conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}", verdict{reason: ReasonStaleGeneration, message: "Ready condition"}},
		"NoSubresource": {"without the subresource each status write raises the generation", "v1plain", stateRule,
			"metadata: {generation: 9}\nstatus: {observedGeneration: 1, state: Ready}", verdict{status: Ready, reason: ReasonFieldValue}},
		"PathLag":      {"a named field lags", "v1", path, "metadata: {generation: 3}\nstatus: {seen: 2, state: Ready}", verdict{reason: ReasonStaleGeneration, message: "status.seen"}},
		"PathCurrent":  {"a named field has caught up", "v1", path, "metadata: {generation: 3}\nstatus: {seen: '3', state: Ready}", verdict{status: Ready, reason: ReasonFieldValue}},
		"PathMissing":  {"a named field is not there yet", "v1", path, "metadata: {generation: 3}\nstatus: {state: Ready}", verdict{reason: ReasonStaleGeneration, message: "status.seen"}},
		"PathSeveral":  {"a path with several hits is a wrong rule", "v1", stateRule + "\ntruss.dev/generation-path: status.*", "metadata: {generation: 3}\nstatus: {state: Ready, b: 1}", verdict{reason: ReasonAmbiguousField, broken: true}},
		"PathNoEffect": {"a path without the subresource can never work", "v1plain", path, "metadata: {generation: 3}\nstatus: {seen: 3, state: Ready}", verdict{reason: ReasonInvalidRule, broken: true, message: "needs the status subresource"}},
		"ReadyWhen":    {"the object's own rule waits as well", "v1", "", "metadata: {generation: 2, annotations: {truss.dev/ready-when: Exists}}\nstatus: {observedGeneration: 1}", verdict{reason: ReasonStaleGeneration}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := NewEvaluator().Evaluate(widgetObject(t, c.object), rulesOf(t, c.version, c.rules), Related{})
			checkVerdict(t, c.reason, c.want, got)
		})
	}
}

// N03: a kind without a rule says so.
func TestKindsWithoutStatedRule(t *testing.T) {
	reads := func(exprs ...string) Related {
		var rel Related
		for _, expr := range exprs {
			p, err := ParsePath(expr)
			if err != nil {
				t.Fatal(err)
			}
			rel.Reads = append(rel.Reads, p)
		}
		return rel
	}
	cases := map[string]struct {
		reason, version, object string
		related                 Related
		want                    verdict
	}{
		"N03 NoRule":       {"the advice says what to write", "v1", "spec: {}", Related{}, verdict{reason: ReasonNoReadinessRule, message: "truss.dev/ready-when: Exists"}},
		"SomeStatus":       {"any status is no rule", "v1", "status: {state: fine}", Related{}, verdict{reason: ReasonNoReadinessRule}},
		"NoStatus":         {"a kind that declares no status", "v1bare", "spec: {}", Related{}, verdict{status: Ready, reason: ReasonExists, message: "declares no status"}},
		"Ready":            {"Ready=True", "v1", "status: {conditions: [{type: Ready, status: 'True', reason: Up}]}", Related{}, verdict{status: Ready, reason: ReasonReadyCondition, message: "(Up)"}},
		"NotReady":         {"Ready=False waits and its text is shown", "v1", "status: {conditions: [{type: Ready, status: 'False', reason: Pulling, message: half way}]}", Related{}, verdict{reason: ReasonReadyCondition, message: "(Pulling): half way"}},
		"ReadyUnknown":     {"Unknown waits", "v1", "status: {conditions: [{type: Ready, status: Unknown}]}", Related{}, verdict{reason: ReasonReadyCondition}},
		"ReadyStale":       {"the condition's own generation lags although the status has caught up", "v1", "metadata: {generation: 2}\nstatus: {observedGeneration: 2, conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}", Related{}, verdict{reason: ReasonStaleGeneration}},
		"UndeclaredFalse":  {"a condition counts also where no status is declared", "v1bare", "status: {conditions: [{type: Ready, status: 'False'}]}", Related{}, verdict{reason: ReasonReadyCondition}},
		"PhaseFailed":      {"a phase that says Failed", "v1", "status: {phase: Failed}", Related{}, verdict{status: Failed, reason: ReasonStatusFailed, message: `status.phase is "Failed"`}},
		"StateError":       {"a state that says Error", "v1", "status: {state: Error}", Related{}, verdict{status: Failed, reason: ReasonStatusFailed}},
		"FailedAndNot":     {"Failed is more than not ready", "v1", "status: {phase: Failed, conditions: [{type: Ready, status: 'False'}]}", Related{}, verdict{status: Failed, reason: ReasonStatusFailed}},
		"ReadyAndFailed":   {"Ready=True wins over a phase", "v1", "status: {phase: Failed, conditions: [{type: Ready, status: 'True'}]}", Related{}, verdict{status: Ready, reason: ReasonReadyCondition}},
		"Stalled":          {"kstatus's Stalled", "v1", "status: {conditions: [{type: Stalled, status: 'True', message: bad spec}]}", Related{}, verdict{status: Failed, reason: ReasonStalled, message: "bad spec"}},
		"StalledStale":     {"of an older generation it says nothing", "v1", "metadata: {generation: 2}\nstatus: {conditions: [{type: Stalled, status: 'True', observedGeneration: 1}]}", Related{}, verdict{reason: ReasonNoReadinessRule}},
		"ReadsThere":       {"siblings of a Stack name what they read", "v1", "status: {endpoint: h}", reads("status.endpoint"), verdict{status: Ready, reason: ReasonValuesRead}},
		"ReadsMissing":     {"one of two is missing", "v1", "status: {endpoint: h}", reads("status.endpoint", "status.port"), verdict{reason: ReasonNoReadinessRule}},
		"ReadsOfSpecOnly":  {"a value of the spec is there from the start", "v1", "spec: {a: 1}", reads("spec.a"), verdict{reason: ReasonNoReadinessRule}},
		"ReadsAndNotReady": {"a Ready condition speaks first", "v1", "status: {endpoint: h, conditions: [{type: Ready, status: 'False'}]}", reads("status.endpoint"), verdict{reason: ReasonReadyCondition}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := NewEvaluator().Evaluate(widgetObject(t, c.object), rulesOf(t, c.version, ""), c.related)
			checkVerdict(t, c.reason, c.want, got)
		})
	}
}

func TestAbsentObjectIsInProgress(t *testing.T) {
	e := NewEvaluator()
	want := verdict{reason: ReasonNotFound, message: "does not exist"}
	checkVerdict(t, "nil", want, e.Evaluate(nil, nil, Related{}))
	checkVerdict(t, "empty", want, e.Evaluate(&unstructured.Unstructured{}, &Rules{}, Related{}))
}
