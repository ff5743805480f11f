package readiness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRulesFromCRDReadsEverySpelling(t *testing.T) {
	field := Rules{Custom: true, HasStatusSubresource: true, DeclaresStatus: true, DeclaresConditions: true, FieldPath: "{$.status.state}", FieldValue: "Ready"}
	owned := Rules{Custom: true, HasStatusSubresource: true, DeclaresStatus: true, DeclaresConditions: true, ExistsKind: "Binding", ExistsGroup: "example.com", ExistsVersion: "v1"}
	core := owned
	core.ExistsKind, core.ExistsGroup = "ConfigMap", ""
	cases := map[string]struct {
		reason, version, annotations string
		want                         Rules
	}{
		"Code":      {"the spelling of Smith's code", "v1", "smith.atlassian.com/CrReadyWhenFieldPath: '{$.status.state}'\nsmith.atlassian.com/CrReadyWhenFieldValue: Ready", field},
		"Shorthand": {"the document's shorthand", "v1", "smith.a.c/CrReadyWhenFieldPath: '{$.status.state}'\nsmith.a.c/CrReadyWhenFieldValue: Ready", field},
		"Heading":   {"the document's heading says Crd", "v1", "smith.a.c/CrdReadyWhenFieldPath: '{$.status.state}'\nsmith.a.c/CrdReadyWhenFieldValue: Ready", field},
		"Mixed":     {"one of each, and twice the same", "v1", "smith.atlassian.com/CrdReadyWhenFieldPath: '{$.status.state}'\nsmith.a.c/CrReadyWhenFieldValue: Ready\nsmith.atlassian.com/CrReadyWhenFieldValue: Ready", field},
		"Exists":    {"the Exists pair", "v1", bindingRule, owned},
		"Core":      {"a kind of the core group", "v1", "smith.a.c/CrReadyWhenExistsKind: ConfigMap\nsmith.a.c/CrReadyWhenExistsVersion: v1", core},
		"Support":   {"exactly true", "v1bare", "smith.atlassian.com/SupportEnabled: 'true'", Rules{Custom: true, SupportEnabled: true}},
		"NoSupport": {"anything else is not", "v1bare", "smith.atlassian.com/SupportEnabled: 'True'", Rules{Custom: true}},
		"Plain":     {"a declared status without subresource", "v1plain", "", Rules{Custom: true, DeclaresStatus: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rules := rulesOf(t, c.version, c.annotations)
			if diff := cmp.Diff(&c.want, rules, cmpopts.IgnoreUnexported(Rules{})); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
			if err := rules.Err(); err != nil {
				t.Errorf("%s: Err: %v", c.reason, err)
			}
		})
	}
}

func TestWrongRulesAreNamedOnTheInstance(t *testing.T) {
	prefix := "smith.atlassian.com/"
	cases := map[string]struct {
		reason, annotations, message string
	}{
		"ValueMissing":   {"half of the field rule", prefix + "CrReadyWhenFieldPath: status.state", "annotation CrReadyWhenFieldValue is missing or empty: CrReadyWhenFieldPath needs it"},
		"PathMissing":    {"the other half", prefix + "CrReadyWhenFieldValue: x", "annotation CrReadyWhenFieldPath is missing"},
		"ValueEmpty":     {"Smith ignores an empty rule", prefix + "CrReadyWhenFieldPath: status.state\n" + prefix + "CrReadyWhenFieldValue: ''", "Smith ignores an empty rule"},
		"VersionMissing": {"half of the Exists rule", prefix + "CrReadyWhenExistsKind: K", "annotation CrReadyWhenExistsVersion is missing"},
		"KindMissing":    {"the other half", prefix + "CrReadyWhenExistsVersion: v1", "annotation CrReadyWhenExistsKind is missing"},
		"BadVersion":     {"no group and version", prefix + "CrReadyWhenExistsKind: K\n" + prefix + "CrReadyWhenExistsVersion: a/b/c", "write group/version"},
		"OutputAlone":    {"the output needs K", prefix + "CrOutputNameField: status.x", "CrOutputNameField needs it"},
		"OutputKind":     {"only two kinds are outputs", outputRule + "\ntruss.dev/output-kind: Pod", "write Secret or ConfigMap"},
		"OutputPath":     {"recursive descent", bindingRule + "\n" + prefix + "CrOutputNameField: '{..name}'", "recursive descent"},
		"SecretValues":   {"the name of a Secret's output is no value of it", prefix + "CrReadyWhenExistsKind: Secret\n" + prefix + "CrReadyWhenExistsVersion: v1\n" + prefix + "CrOutputNameField: data.password", "below metadata"},
		"Contradiction":  {"two spellings, two values", prefix + "CrReadyWhenFieldPath: status.a\nsmith.a.c/CrReadyWhenFieldPath: status.b\n" + prefix + "CrReadyWhenFieldValue: x", "differ: keep one"},
		"Generation":     {"a bad generation path", "truss.dev/generation-path: a..b", "annotation truss.dev/generation-path"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rules := rulesOf(t, "v1", c.annotations)
			got := NewEvaluator().Evaluate(widgetObject(t, claimed), rules, Related{OwnedSynced: true})
			checkVerdict(t, c.reason, verdict{reason: ReasonInvalidRule, broken: true, message: c.message}, got)
			if err := rules.Err(); err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%s: Err = %v", c.reason, err)
			}
		})
	}
}

func TestLiteralRulesJudgeLikeParsedOnes(t *testing.T) {
	rules := &Rules{Custom: true, DeclaresStatus: true, FieldPath: "status.state", FieldValue: "Ready"}
	e := NewEvaluator()
	checkVerdict(t, "holds", verdict{status: Ready, reason: ReasonFieldValue}, e.Evaluate(widgetObject(t, "status: {state: Ready}"), rules, Related{}))
	rules = &Rules{Custom: true, FieldPath: "status.state"}
	checkVerdict(t, "half a rule", verdict{reason: ReasonInvalidRule, broken: true}, e.Evaluate(widgetObject(t, "status: {state: Ready}"), rules, Related{}))
}

func TestRulesFromCRDRefusesWhatItCannotRead(t *testing.T) {
	cases := map[string]struct {
		reason, kind, version, message string
	}{
		"Unserved": {"the version is stored only", "CustomResourceDefinition", "v0", `version "v0" is not served, served are ["v1" "v1bare" "v1plain"]`},
		"Unknown":  {"the version does not exist", "CustomResourceDefinition", "v9", `version "v9" is not served`},
		"NoCRD":    {"another kind", "ConfigMap", "v1", "not a CustomResourceDefinition"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			definition := crd(t, "")
			definition.SetKind(c.kind)
			_, err := RulesFromCRD(definition, c.version)
			if err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%s: error %v does not say %q", c.reason, err, c.message)
			}
		})
	}
	if _, err := RulesFromCRD(nil, "v1"); err == nil {
		t.Error("nil is no CRD")
	}
}

func TestClaimsAreRecognisedByRoleOrCategory(t *testing.T) {
	byCategory := crd(t, "")
	byCategory.Object["spec"].(map[string]any)["names"].(map[string]any)["categories"] = []any{"all", "claim"}
	rules, err := RulesFromCRD(byCategory, "v1")
	if err != nil || !rules.OutputFromSelf || rules.OutputNameField != "status.connectionSecretName" || rules.OutputKind != "Secret" {
		t.Errorf("category claim: %+v, %v", rules, err)
	}
	if rules := rulesOf(t, "v1", "truss.dev/role: managed"); rules.OutputFromSelf {
		t.Error("a managed resource is no claim")
	}
}
