package readiness

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ReadyWhen is the annotation by which an object states its own rule:
// "Exists", or a CEL expression over self that gives a bool.
const ReadyWhen = "truss.dev/ready-when"

// Related is what the caller observed around the object. The zero value means
// that nothing was observed.
type Related struct {
	// Owned are the objects of the kind that Rules.NeedsOwned names. Those
	// that do not refer to the object's UID, or are of another kind or
	// namespace, are ignored. Whole objects are needed only where
	// Rules.NeedsContent says so.
	Owned []*unstructured.Unstructured
	// OwnedSynced is false while Owned may be incomplete.
	OwnedSynced bool
	// OwnedMessage says why Owned cannot be seen: kind unknown, watch
	// forbidden.
	OwnedMessage string
	// OutputExists tells whether an output object exists in the object's
	// namespace; known is false while that cannot be said. May be nil.
	OutputExists func(kind, name string) (exists, known bool)
	// WaitsForConsumer tells whether volumes of a StorageClass are bound
	// only when a pod uses them; known is false where the class cannot be
	// read. May be nil.
	WaitsForConsumer func(class string) (waits, known bool)
	// Reads are the paths that dependants read of the object, where they are
	// known (siblings of one Stack): a status that holds them all counts as
	// Ready where no other rule speaks.
	Reads []*Path
}

// An Evaluator judges objects. It holds only a bounded cache of compiled
// expressions and is safe for concurrent use. The zero value is not usable.
type Evaluator struct {
	expressions *expressionCache
}

// NewEvaluator returns an Evaluator with an empty cache.
func NewEvaluator() *Evaluator {
	return &Evaluator{expressions: newExpressionCache(expressionCacheSize)}
}

// Evaluate judges obj as it was observed. It takes time linear in the parts of
// obj that the deciding rule reads, changes none of its arguments and never
// panics, whatever obj holds. A nil obj is an object that does not exist.
func (e *Evaluator) Evaluate(obj *unstructured.Unstructured, rules *Rules, rel Related) Result {
	if obj == nil || obj.Object == nil {
		return inProgress(ReasonNotFound, "the object does not exist yet")
	}
	if r, decided := terminating(obj); decided {
		return r
	}
	if r, decided := generationLag(obj, rules); decided {
		return r
	}
	if expr, found := readyWhen(obj); found {
		return withVisibleOutput(e.readyWhen(obj, expr), obj, rules, rel)
	}
	result := judge(obj, rules, rel)
	if result.Status != Ready {
		return result
	}
	return withOutput(result, obj, rules, rel)
}

// judge applies the rules of the kind.
func judge(obj *unstructured.Unstructured, rules *Rules, rel Related) Result {
	if r, decided := smithRules(obj, rules, rel); decided {
		return r
	}
	if rules == nil || !rules.Custom || obj.GroupVersionKind().Group == groupServiceCatalog {
		return builtin(obj, rel)
	}
	return custom(obj, rules, rel)
}

// terminating is rule 1a: what is being deleted is never Ready.
func terminating(obj *unstructured.Unstructured) (Result, bool) {
	if !isTerminating(obj) {
		return Result{}, false
	}
	return inProgress(ReasonTerminating, "the object is being deleted: metadata.deletionTimestamp is set"), true
}

func isTerminating(obj *unstructured.Unstructured) bool {
	value := valueAt(obj.Object, "metadata", "deletionTimestamp")
	return value != nil && value != any("")
}

func readyWhen(obj *unstructured.Unstructured) (string, bool) {
	value, found := mapAt(obj.Object, "metadata", "annotations")[ReadyWhen]
	if !found {
		return "", false
	}
	expr, _ := value.(string)
	return expr, true
}

func isSecret(obj *unstructured.Unstructured) bool {
	return obj.GetKind() == kindSecret && obj.GetAPIVersion() == "v1"
}
