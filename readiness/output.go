package readiness

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// OutputName gives the output object's name as the owned objects (or, where
// Rules.OutputFromSelf is set, the object itself as their only element) publish
// it, and the kinds it may have, so that the caller can watch for it. An empty
// name without an error means not published yet. Several owned objects, or a
// value that is no object name, are errors.
func OutputName(rules *Rules, owned []*unstructured.Unstructured) (name string, kinds []string, err error) {
	if rules == nil || rules.OutputNameField == "" {
		return "", nil, nil
	}
	paths, problems := rules.compile()
	if len(problems) > 0 || paths.output == nil {
		return "", nil, rules.Err()
	}
	live := owned
	if !rules.OutputFromSelf {
		live = slices.DeleteFunc(slices.Clone(owned), func(k *unstructured.Unstructured) bool { return !rules.isOwnedKind(k) })
	}
	if len(live) == 0 {
		return "", rules.outputKinds(), nil
	}
	if len(live) > 1 {
		return "", nil, &severalOwnedError{kind: rules.ownedName(), names: sortedNames(live)}
	}
	name, err = publishedName(paths.output, live[0])
	return name, rules.outputKinds(), err
}

// severalOwnedError says that the output name is ambiguous.
type severalOwnedError struct {
	kind  string
	names []string
}

func (e *severalOwnedError) Error() string {
	return fmt.Sprintf("%d objects of kind %s publish an output name, one is allowed: %q", len(e.names), e.kind, e.names)
}

func publishedName(path *Path, k *unstructured.Unstructured) (string, error) {
	value, err := path.Value(k.Object)
	if _, missing := errors.AsType[*MissingError](err); missing {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name, isText := value.(string)
	if isText && name == "" {
		return "", nil
	}
	if !isText || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", fmt.Errorf("%s of %s %q is not an object name", path, k.GetKind(), k.GetName())
	}
	return name, nil
}

func (r *Rules) outputKinds() []string {
	if r.OutputKind != "" {
		return []string{r.OutputKind}
	}
	return []string{kindConfigMap, kindSecret}
}

// isOwnedKind tells whether k is a live K in any version. One that is being
// deleted does not count, so that a replacement is not ambiguous.
func (r *Rules) isOwnedKind(k *unstructured.Unstructured) bool {
	if k == nil || k.Object == nil || isTerminating(k) {
		return false
	}
	gvk := k.GroupVersionKind()
	return gvk.Group == r.ExistsGroup && gvk.Kind == r.ExistsKind
}

// ownedBy lists the Ks that refer to obj, controller or not, by name.
func ownedBy(obj *unstructured.Unstructured, rules *Rules, candidates []*unstructured.Unstructured) []*unstructured.Unstructured {
	uid, namespace := textAt(obj.Object, "metadata", "uid"), textAt(obj.Object, "metadata", "namespace")
	var owned []*unstructured.Unstructured
	for _, k := range candidates {
		if uid == "" || !rules.isOwnedKind(k) || !refersTo(k, uid) {
			continue
		}
		if namespace == "" || k.GetNamespace() == namespace {
			owned = append(owned, k)
		}
	}
	slices.SortFunc(owned, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return owned
}

func refersTo(k *unstructured.Unstructured, uid string) bool {
	return slices.ContainsFunc(listAt(k.Object, "metadata", "ownerReferences"), func(item any) bool {
		ref, _ := item.(map[string]any)
		return ref["uid"] == any(uid)
	})
}

func sortedNames(objects []*unstructured.Unstructured) []string {
	var names []string
	for _, o := range objects {
		names = append(names, o.GetName())
	}
	slices.Sort(names)
	return names
}

// withOutput keeps a Ready result Ready only once the output object exists.
func withOutput(result Result, obj *unstructured.Unstructured, rules *Rules, rel Related) Result {
	if rules == nil || rules.OutputNameField == "" {
		return result
	}
	name, kinds, err := OutputName(rules, publishers(obj, rules, rel))
	if err != nil {
		return broken(outputErrorReason(err), fmt.Sprintf("%s: %v", keyOutputNameField, err))
	}
	if name == "" && rules.OutputOptional {
		return result
	}
	if name == "" {
		return inProgress(ReasonOutputMissing, fmt.Sprintf("%s %s is not published yet", keyOutputNameField, rules.OutputNameField))
	}
	return findOutput(result, name, kinds, rel.OutputExists)
}

// withVisibleOutput adds the output to a result that the object's own rule
// decided, when it exists; it never takes the verdict back.
func withVisibleOutput(result Result, obj *unstructured.Unstructured, rules *Rules, rel Related) Result {
	if result.Status != Ready {
		return result
	}
	result.Output = withOutput(result, obj, rules, rel).Output
	return result
}

func publishers(obj *unstructured.Unstructured, rules *Rules, rel Related) []*unstructured.Unstructured {
	if rules.OutputFromSelf {
		return []*unstructured.Unstructured{obj}
	}
	return ownedBy(obj, rules, rel.Owned)
}

func outputErrorReason(err error) string {
	var severalOwned *severalOwnedError
	var several *SeveralError
	if errors.As(err, &severalOwned) || errors.As(err, &several) {
		return ReasonAmbiguousOutput
	}
	return ReasonInvalidOutput
}

// findOutput looks for the output object under each kind it may have.
func findOutput(result Result, name string, kinds []string, exists func(kind, name string) (bool, bool)) Result {
	var found, unknown []string
	for _, kind := range kinds {
		there, known := false, false
		if exists != nil {
			there, known = exists(kind, name)
		}
		if !known {
			unknown = append(unknown, kind)
		} else if there {
			found = append(found, kind)
		}
	}
	switch {
	case len(found) > 1:
		return broken(ReasonAmbiguousOutput, fmt.Sprintf("output %q exists both as %s and %s: set %s on the CRD", name, found[0], found[1], keyOutputKind))
	case len(unknown) > 0:
		return inProgress(ReasonOutputUnknown, fmt.Sprintf("output %q: it is not known yet whether a %s of that name exists", name, unknown[0]))
	case len(found) == 0:
		return inProgress(ReasonOutputMissing, fmt.Sprintf("output %q does not exist yet (looked for %q)", name, kinds))
	}
	result.Output = &Output{Kind: found[0], Name: name}
	result.Message = oneLine(fmt.Sprintf("%s; output %s %q exists", result.Message, found[0], name))
	return result
}
