package readiness

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const bindingRule = `
smith.atlassian.com/CrReadyWhenExistsKind: Binding
smith.atlassian.com/CrReadyWhenExistsVersion: example.com/v1`

const outputRule = bindingRule + `
smith.atlassian.com/CrOutputNameField: status.secretName`

const claimed = "metadata: {name: c, namespace: ns, uid: u1}\n"

// binding is an object K; ref is its ownerReference.
func binding(t testing.TB, name, version, ref, rest string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: example.com/"+version+"\nkind: Binding\nmetadata: {name: "+name+", namespace: ns, ownerReferences: ["+ref+"]}\n"+rest)
}

// N05: which object makes the instance ready, and which does not.
func TestOwnedObjectMustReferToTheInstance(t *testing.T) {
	plain, controller, other := "{uid: u1}", "{uid: u1, controller: true}", "{uid: u2}"
	elsewhere := binding(t, "k", "v1", plain, "")
	elsewhere.SetNamespace("other")
	wrongKind := binding(t, "k", "v1", plain, "")
	wrongKind.SetKind("Bound")
	wrongGroup := binding(t, "k", "v1", plain, "")
	wrongGroup.SetAPIVersion("example.org/v1")
	going := binding(t, "k", "v1", plain, "")
	going.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2024-01-01T00:00:00Z"
	there := verdict{status: Ready, reason: ReasonOwnedExists, message: `"k" exists`}
	missing := verdict{reason: ReasonOwnedMissing, message: "Binding.example.com"}
	cases := map[string]struct {
		reason  string
		related Related
		want    verdict
	}{
		"Plain":        {"a plain reference is enough", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{binding(t, "k", "v1", plain, "")}}, there},
		"Controller":   {"a controller reference too", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{binding(t, "k", "v1", controller, "")}}, there},
		"AnyVersion":   {"any served version of the kind", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{binding(t, "k", "v2beta1", plain, "")}}, there},
		"NotReadyK":    {"K's own readiness does not matter", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{binding(t, "k", "v1", plain, "status: {phase: Failed}")}}, there},
		"OtherUID":     {"another instance's", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{binding(t, "k", "v1", other, "")}}, missing},
		"OtherKind":    {"another kind", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{wrongKind}}, missing},
		"OtherGroup":   {"the same kind of another group", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{wrongGroup}}, missing},
		"Elsewhere":    {"another namespace", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{elsewhere}}, missing},
		"Going":        {"one that is being deleted", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{going}}, missing},
		"Deleted":      {"deleted later", Related{OwnedSynced: true}, missing},
		"NilEntry":     {"a hole in the list", Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{nil, {}}}, missing},
		"NotSynced":    {"nobody looked yet", Related{}, verdict{reason: ReasonOwnedUnknown, message: "not observed yet"}},
		"Forbidden":    {"the caller says why", Related{OwnedMessage: "may not watch bindings"}, verdict{reason: ReasonOwnedUnknown, message: "may not watch bindings"}},
		"SeenUnsynced": {"what was seen is there", Related{Owned: []*unstructured.Unstructured{binding(t, "k", "v1", plain, "")}}, there},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := NewEvaluator().Evaluate(widgetObject(t, claimed), rulesOf(t, "v1", bindingRule), c.related)
			checkVerdict(t, c.reason, c.want, got)
		})
	}
}

func TestAllStatedRulesMustHold(t *testing.T) {
	rules := rulesOf(t, "v1", stateRule+bindingRule)
	rel := Related{OwnedSynced: true, Owned: []*unstructured.Unstructured{binding(t, "k", "v1", "{uid: u1}", "")}}
	e := NewEvaluator()
	checkVerdict(t, "the field does not hold", verdict{reason: ReasonFieldValue}, e.Evaluate(widgetObject(t, claimed), rules, rel))
	state := widgetObject(t, claimed+"status: {state: Ready}")
	checkVerdict(t, "K is missing", verdict{reason: ReasonOwnedMissing}, e.Evaluate(state, rules, Related{OwnedSynced: true}))
	checkVerdict(t, "both hold", verdict{status: Ready, reason: ReasonOwnedExists, message: `{.status.state} is "Ready"; CrReadyWhenExistsKind`}, e.Evaluate(state, rules, rel))
}

// existingOutputs answers for a fixed set of "Kind/name".
func existingOutputs(names ...string) func(kind, name string) (bool, bool) {
	return func(kind, name string) (bool, bool) {
		return slices.Contains(names, kind+"/"+name), true
	}
}

// N06: the output is known by the name that K publishes and ready once it
// exists, whoever chose the name.
func TestOutputGatesReady(t *testing.T) {
	k := func(name, status string) *unstructured.Unstructured {
		return binding(t, name, "v1", "{uid: u1}", status)
	}
	list := func(ks ...*unstructured.Unstructured) []*unstructured.Unstructured { return ks }
	secret := &Output{Kind: "Secret", Name: "s-1"}
	kinded := outputRule + "\ntruss.dev/output-kind: Secret"
	cases := map[string]struct {
		reason, rules string
		related       Related
		want          verdict
	}{
		"Exists":     {"K names it and it exists", outputRule, Related{Owned: list(k("k", "status: {secretName: s-1}")), OutputExists: existingOutputs("Secret/s-1")}, verdict{status: Ready, reason: ReasonOwnedExists, output: secret, message: "output Secret"}},
		"Rotated":    {"the new name is not there yet, the old one is", outputRule, Related{Owned: list(k("k", "status: {secretName: s-2}")), OutputExists: existingOutputs("Secret/s-1")}, verdict{reason: ReasonOutputMissing, message: `"s-2"`}},
		"ConfigMap":  {"a ConfigMap is found as well", outputRule, Related{Owned: list(k("k", "status: {secretName: c}")), OutputExists: existingOutputs("ConfigMap/c")}, verdict{status: Ready, reason: ReasonOwnedExists, output: &Output{Kind: "ConfigMap", Name: "c"}}},
		"Both":       {"both kinds exist", outputRule, Related{Owned: list(k("k", "status: {secretName: c}")), OutputExists: existingOutputs("ConfigMap/c", "Secret/c")}, verdict{reason: ReasonAmbiguousOutput, broken: true, message: "truss.dev/output-kind"}},
		"KindStated": {"the CRD says which of both", kinded, Related{Owned: list(k("k", "status: {secretName: s-1}")), OutputExists: existingOutputs("ConfigMap/s-1", "Secret/s-1")}, verdict{status: Ready, reason: ReasonOwnedExists, output: secret}},
		"NoName":     {"K has not published a name", outputRule, Related{Owned: list(k("k", "")), OutputExists: existingOutputs()}, verdict{reason: ReasonOutputMissing, message: "status.secretName"}},
		"EmptyName":  {"an empty name is none", outputRule, Related{Owned: list(k("k", "status: {secretName: ''}")), OutputExists: existingOutputs()}, verdict{reason: ReasonOutputMissing}},
		"Unknown":    {"nobody has looked", outputRule, Related{Owned: list(k("k", "status: {secretName: s-1}"))}, verdict{reason: ReasonOutputUnknown}},
		"BadName":    {"no object can bear the name", outputRule, Related{Owned: list(k("k", "status: {secretName: 'A/b'}"))}, verdict{reason: ReasonInvalidOutput, broken: true}},
		"NotText":    {"the name is a map", outputRule, Related{Owned: list(k("k", "status: {secretName: {a: b}}"))}, verdict{reason: ReasonInvalidOutput, broken: true}},
		"SeveralK":   {"several Ks publish", outputRule, Related{Owned: list(k("b", ""), k("a", ""))}, verdict{reason: ReasonAmbiguousOutput, broken: true, message: `2 objects of kind Binding.example.com publish an output name, one is allowed: ["a" "b"]`}},
		"SeveralHit": {"the path has several hits", bindingRule + "\nsmith.atlassian.com/CrOutputNameField: status.*", Related{Owned: list(k("k", "status: {a: x, b: y}"))}, verdict{reason: ReasonAmbiguousOutput, broken: true}},
		"NoK":        {"without K there is no output", outputRule, Related{OwnedSynced: true}, verdict{reason: ReasonOwnedMissing}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := NewEvaluator().Evaluate(widgetObject(t, claimed), rulesOf(t, "v1", c.rules), c.related)
			checkVerdict(t, c.reason, c.want, got)
		})
	}
}

func TestClaimPublishesItsOwnOutput(t *testing.T) {
	optional := rulesOf(t, "v1", "truss.dev/role: claim")
	stated := rulesOf(t, "v1", "truss.dev/role: claim\nsmith.atlassian.com/CrOutputNameField: status.secret")
	rel := Related{OutputExists: existingOutputs("Secret/conn")}
	isReady := claimed + "status: {conditions: [{type: Ready, status: 'True'}]"
	e := NewEvaluator()
	checkVerdict(t, "the default field", verdict{status: Ready, reason: ReasonReadyCondition, output: &Output{Kind: "Secret", Name: "conn"}},
		e.Evaluate(widgetObject(t, isReady+", connectionSecretName: conn}"), optional, rel))
	checkVerdict(t, "a claim may have no Secret", verdict{status: Ready, reason: ReasonReadyCondition}, e.Evaluate(widgetObject(t, isReady+"}"), optional, rel))
	checkVerdict(t, "a stated field is waited for", verdict{reason: ReasonOutputMissing}, e.Evaluate(widgetObject(t, isReady+"}"), stated, rel))
	checkVerdict(t, "not ready is not ready", verdict{reason: ReasonNoReadinessRule}, e.Evaluate(widgetObject(t, claimed+"status: {connectionSecretName: conn}"), optional, rel))
}

func TestOutputNameIsKnownBeforeItsObject(t *testing.T) {
	rules := rulesOf(t, "v1", outputRule)
	name, kinds, err := OutputName(rules, []*unstructured.Unstructured{binding(t, "k", "v1", "{uid: u1}", "status: {secretName: s}")})
	if name != "s" || err != nil || !cmp.Equal(kinds, []string{"ConfigMap", "Secret"}) {
		t.Errorf("OutputName = %q, %q, %v", name, kinds, err)
	}
	if name, kinds, err = OutputName(rules, nil); name != "" || err != nil || len(kinds) != 2 {
		t.Errorf("without K: OutputName = %q, %q, %v", name, kinds, err)
	}
	if name, kinds, err = OutputName(nil, nil); name != "" || err != nil || kinds != nil {
		t.Errorf("without a rule: OutputName = %q, %q, %v", name, kinds, err)
	}
	gk, version, ok := rules.NeedsOwned()
	if gk != (schema.GroupKind{Group: "example.com", Kind: "Binding"}) || version != "v1" || !ok || !rules.NeedsContent() {
		t.Errorf("NeedsOwned = %v, %q, %v", gk, version, ok)
	}
	if _, _, ok := (*Rules)(nil).NeedsOwned(); ok {
		t.Error("nil rules need nothing")
	}
}
