package readiness

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// generationLag is rule 1b: a status that speaks of an older generation says
// nothing about this one, so a stale Ready never releases a dependant.
func generationLag(obj *unstructured.Unstructured, rules *Rules) (Result, bool) {
	generation, ok := integer(valueAt(obj.Object, "metadata", "generation"))
	if !ok || !rules.comparesGeneration() {
		return Result{}, false
	}
	if value := valueAt(obj.Object, "status", "observedGeneration"); value != nil {
		if observed, ok := integer(value); !ok || observed < generation {
			return stale("status.observedGeneration", value, generation), true
		}
	} else if c, found := conditionOf(obj.Object, "Ready"); found && c.isStale(generation) {
		return stale("observedGeneration of the Ready condition", c.observed, generation), true
	}
	return generationPathLag(obj, rules, generation)
}

// generationPathLag compares the field that truss.dev/generation-path names.
// A path that does not parse is left to the Smith rules, which report every
// problem of the CRD at once.
func generationPathLag(obj *unstructured.Unstructured, rules *Rules, generation int64) (Result, bool) {
	if rules == nil || rules.GenerationPath == "" {
		return Result{}, false
	}
	paths, _ := rules.compile()
	if paths.generation == nil {
		return Result{}, false
	}
	value, err := paths.generation.Value(obj.Object)
	if _, missing := errors.AsType[*MissingError](err); missing {
		return inProgress(ReasonStaleGeneration, fmt.Sprintf("%s: %v", keyGenerationPath, err)), true
	}
	if err != nil {
		return pathResult(keyGenerationPath, err), true
	}
	if observed, ok := integer(value); !ok || observed < generation {
		return stale(keyGenerationPath+" "+paths.generation.String(), value, generation), true
	}
	return Result{}, false
}

func (c condition) isStale(generation int64) bool {
	return c.hasObserved && c.observed < generation
}

func stale(what string, observed any, generation int64) Result {
	return inProgress(ReasonStaleGeneration, fmt.Sprintf("%s is %s, behind metadata.generation %d: the controller has not seen the latest change",
		what, quoteScalar(observed), generation))
}
