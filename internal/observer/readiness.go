package observer

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/readiness"
)

// judged says whether an object counts as Ready by itself, taking it that
// everything around it is there: whether an object that it has to own existed
// is looked up when a create is judged. unruled says that no rule speaks of
// its kind.
func judged(e *readiness.Evaluator, u *unstructured.Unstructured, rules *readiness.Rules) (ready, unruled bool) {
	if _, _, owns := rules.NeedsOwned(); owns {
		if rules.FieldPath == "" {
			return u.GetDeletionTimestamp() == nil, false
		}
		alone := *rules
		alone.ExistsKind, alone.ExistsGroup, alone.ExistsVersion, alone.OutputNameField = "", "", "", ""
		rules = &alone
	}
	result := e.Evaluate(u, rules, everything())
	return result.Status == readiness.Ready, result.Reason == readiness.ReasonNoReadinessRule
}

// everything is a world in which all that an object may wait for is there. An
// output object exists as the first kind that is asked for, since two of them
// would be ambiguous.
func everything() readiness.Related {
	var output string
	return readiness.Related{
		OwnedSynced: true,
		OutputExists: func(kind, _ string) (exists, known bool) {
			if output == "" {
				output = kind
			}
			return kind == output, true
		},
		WaitsForConsumer: func(string) (waits, known bool) { return true, true },
	}
}

// ruleBook holds the rules of the kinds that CRDs define, by version.
type ruleBook map[string]*readiness.Rules

func rulesOf(crd *unstructured.Unstructured) ruleBook {
	book := ruleBook{}
	for _, version := range servedVersions(crd) {
		if rules, err := readiness.RulesFromCRD(crd, version); err == nil {
			book[version] = rules
		}
	}
	return book
}

func servedVersions(crd *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var served []string
	for _, item := range list {
		v, _ := item.(map[string]any)
		name, _ := v["name"].(string)
		if on, _ := v["served"].(bool); on && name != "" {
			served = append(served, name)
		}
	}
	return served
}
