package readiness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// advice says how a kind without a rule gets one.
const advice = "no readiness rule: the kind declares a status and has no Ready condition yet; annotate the object with " +
	ReadyWhen + ": Exists (or a CEL expression over self), or its CRD with smith.atlassian.com/" + keyFieldPath + " and smith.atlassian.com/" + keyFieldValue

// custom is rule 5: kinds of CRDs that state no rule.
func custom(obj *unstructured.Unstructured, rules *Rules, rel Related) Result {
	if r, decided := genericConditions(obj, rules); decided {
		return r
	}
	if r, decided := statusFailed(obj.Object); decided {
		return r
	}
	if c, found := conditionOf(obj.Object, "Ready"); found {
		return inProgress(ReasonReadyCondition, c.says("Ready"))
	}
	if !rules.DeclaresStatus {
		return ready(ReasonExists, "the kind declares no status and the object exists")
	}
	if holdsReads(obj, rel.Reads) {
		return ready(ReasonValuesRead, fmt.Sprintf("the status holds all %d values that are read of it", len(rel.Reads)))
	}
	return inProgress(ReasonNoReadinessRule, advice)
}

// genericConditions reads the conditions that mean the same on every kind:
// kstatus's Stalled and Reconciling, then Ready being True. Each counts only
// where it speaks of the latest generation.
func genericConditions(obj *unstructured.Unstructured, rules *Rules) (Result, bool) {
	generation, hasGeneration := integer(valueAt(obj.Object, "metadata", "generation"))
	hasGeneration = hasGeneration && rules.comparesGeneration()
	current := func(conditionType string) (condition, bool) {
		c, found := conditionOf(obj.Object, conditionType)
		return c, found && c.status == "True" && !(hasGeneration && c.isStale(generation))
	}
	if c, holds := current("Stalled"); holds {
		return failed(ReasonStalled, c.says("Stalled")), true
	}
	if c, holds := current("Reconciling"); holds {
		return inProgress(ReasonReconciling, c.says("Reconciling")), true
	}
	c, found := conditionOf(obj.Object, "Ready")
	if !found {
		return Result{}, false
	}
	if hasGeneration && c.isStale(generation) {
		return stale("observedGeneration of the Ready condition", c.observed, generation), true
	}
	return ready(ReasonReadyCondition, c.says("Ready")), c.status == "True"
}

// statusFailed reads the widespread status.phase and status.state.
func statusFailed(obj map[string]any) (Result, bool) {
	for _, field := range []string{"phase", "state"} {
		text := textAt(obj, "status", field)
		if text == "Failed" || text == "Error" {
			return failed(ReasonStatusFailed, fmt.Sprintf("status.%s is %q", field, text)), true
		}
	}
	return Result{}, false
}

// holdsReads tells whether all read values are there and one is of the status,
// which only a controller writes.
func holdsReads(obj *unstructured.Unstructured, reads []*Path) bool {
	ofStatus := false
	for _, path := range reads {
		if _, err := path.Value(obj.Object); err != nil {
			return false
		}
		ofStatus = ofStatus || path.First() == "status"
	}
	return ofStatus
}
