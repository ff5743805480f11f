package readiness

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// smithRules is rule 3: the annotations on the object's CRD. All that are
// present must hold (design of Smith's managing-resources).
func smithRules(obj *unstructured.Unstructured, rules *Rules, rel Related) (Result, bool) {
	paths, problems := rules.compile()
	if len(problems) > 0 {
		return invalid(problems), true
	}
	if !rules.stated() {
		return Result{}, false
	}
	var held []string
	result := Result{}
	for _, rule := range []func() Result{
		func() Result { return fieldRule(obj, rules, paths.field) },
		func() Result { return existsRule(obj, rules, rel) },
	} {
		r := rule()
		if r.Reason == "" {
			continue
		}
		if r.Status != Ready {
			return r, true
		}
		held, result = append(held, r.Message), r
	}
	result.Message = oneLine(strings.Join(held, "; "))
	return result, true
}

// fieldRule compares the printed value, exactly and untrimmed, as Smith does.
// It gives the zero Result where the CRD has no such rule.
func fieldRule(obj *unstructured.Unstructured, rules *Rules, path *Path) Result {
	if path == nil {
		return Result{}
	}
	want := fmt.Sprintf("%s %s must be %q", keyFieldPath, path, truncate(rules.FieldValue, 100))
	text, err := path.Text(obj.Object)
	if err != nil {
		return pathResult(want, err)
	}
	if text == rules.FieldValue {
		return ready(ReasonFieldValue, fmt.Sprintf("%s %s is %q", keyFieldPath, path, truncate(text, 100)))
	}
	var missing *MissingError
	if _, err := path.Value(obj.Object); errors.As(err, &missing) && text == "" {
		return inProgress(ReasonFieldValue, fmt.Sprintf("%s: %q is not there yet", want, missing.Segment))
	}
	return inProgress(ReasonFieldValue, fmt.Sprintf("%s, it is %q", want, truncate(text, 100)))
}

// pathResult words a path's error: missing waits, all else is a wrong rule.
func pathResult(rule string, err error) Result {
	if _, missing := errors.AsType[*MissingError](err); missing {
		return inProgress(ReasonFieldValue, fmt.Sprintf("%s: %v", rule, err))
	}
	if _, several := errors.AsType[*SeveralError](err); several {
		return broken(ReasonAmbiguousField, fmt.Sprintf("%s: %v", rule, err))
	}
	return broken(ReasonInvalidRule, fmt.Sprintf("%s: %v", rule, err))
}

func invalid(problems []string) Result {
	return broken(ReasonInvalidRule, "the CRD's readiness rules are wrong: "+strings.Join(problems, "; "))
}

// existsRule asks for an object K that refers to this one by UID.
func existsRule(obj *unstructured.Unstructured, rules *Rules, rel Related) Result {
	if rules.ExistsKind == "" {
		return Result{}
	}
	want := keyExistsKind + " " + rules.ownedName()
	if owned := ownedBy(obj, rules, rel.Owned); len(owned) > 0 {
		return ready(ReasonOwnedExists, fmt.Sprintf("%s: %q exists and refers to the object's UID", want, owned[0].GetName()))
	}
	if !rel.OwnedSynced {
		why := rel.OwnedMessage
		if why == "" {
			why = "its objects are not observed yet"
		}
		return inProgress(ReasonOwnedUnknown, fmt.Sprintf("%s cannot be seen: %s", want, why))
	}
	return inProgress(ReasonOwnedMissing, fmt.Sprintf("%s: none in the namespace has an ownerReference with the object's UID yet", want))
}

func (r *Rules) ownedName() string {
	if r.ExistsGroup == "" {
		return r.ExistsKind
	}
	return r.ExistsKind + "." + r.ExistsGroup
}
