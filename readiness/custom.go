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
	if r, decided := abnormal(obj, rules); decided {
		return r
	}
	said, hasReady := readyCondition(obj, rules)
	if said.Status == Ready {
		return said
	}
	if r, decided := statusFailed(obj.Object); decided {
		return r
	}
	switch {
	case hasReady:
		return said
	case !rules.DeclaresStatus:
		return ready(ReasonExists, "the kind declares no status and the object exists")
	case holdsReads(obj, rel.Reads):
		return ready(ReasonValuesRead, fmt.Sprintf("the status holds all %d values that are read of it", len(rel.Reads)))
	}
	return inProgress(ReasonNoReadinessRule, advice)
}

// abnormal reads kstatus's two conditions that mean the same on every kind:
// Stalled and Reconciling, where they speak of the latest generation.
func abnormal(obj *unstructured.Unstructured, rules *Rules) (Result, bool) {
	generation := comparedGeneration(obj, rules)
	if c, _ := conditionOf(obj.Object, "Stalled"); c.status == "True" && !c.isStale(generation) {
		return failed(ReasonStalled, c.says("Stalled")), true
	}
	if c, _ := conditionOf(obj.Object, "Reconciling"); c.status == "True" && !c.isStale(generation) {
		return inProgress(ReasonReconciling, c.says("Reconciling")), true
	}
	return Result{}, false
}

// readyCondition judges by the condition Ready, where there is one. Its own
// observedGeneration counts too.
func readyCondition(obj *unstructured.Unstructured, rules *Rules) (Result, bool) {
	c, found := conditionOf(obj.Object, "Ready")
	if !found {
		return Result{}, false
	}
	if generation := comparedGeneration(obj, rules); c.isStale(generation) {
		return stale("observedGeneration of the Ready condition", c.observed, generation), true
	}
	if c.status != "True" {
		return inProgress(ReasonReadyCondition, c.says("Ready")), true
	}
	return ready(ReasonReadyCondition, c.says("Ready")), true
}

// comparedGeneration is 0, which nothing is older than, where generations say
// nothing.
func comparedGeneration(obj *unstructured.Unstructured, rules *Rules) int64 {
	if !rules.comparesGeneration() {
		return 0
	}
	generation, _ := integer(valueAt(obj.Object, "metadata", "generation"))
	return generation
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
