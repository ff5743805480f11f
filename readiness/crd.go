package readiness

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The annotations of a CRD, without Smith's prefix.
const (
	keyFieldPath       = "CrReadyWhenFieldPath"
	keyFieldValue      = "CrReadyWhenFieldValue"
	keyExistsKind      = "CrReadyWhenExistsKind"
	keyExistsVersion   = "CrReadyWhenExistsVersion"
	keyOutputNameField = "CrOutputNameField"
	keySupportEnabled  = "SupportEnabled"
)

// The annotations that are Truss's own.
const (
	keyOutputKind     = "truss.dev/output-kind"
	keyGenerationPath = "truss.dev/generation-path"
	keyRole           = "truss.dev/role"
)

// The output name of a claim, unless its CRD names another field.
const claimOutputField = "status.connectionSecretName"

const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

// RulesFromCRD reads the rules of one served version of a CRD
// (apiextensions.k8s.io/v1). Both prefixes of Smith's design document are
// read, smith.atlassian.com/ and smith.a.c/, and both spellings, CrReadyWhen
// and CrdReadyWhen. It fails only when crd is no CRD or does not serve the
// version; a wrong annotation gives Rules whose Err says so and whose
// instances are judged Broken, since the CRD's author is not the one waiting.
func RulesFromCRD(crd *unstructured.Unstructured, version string) (*Rules, error) {
	if crd == nil || crd.GetKind() != "CustomResourceDefinition" || crd.GroupVersionKind().Group != groupAPIExtensions {
		return nil, fmt.Errorf("cannot derive readiness rules: the object is not a CustomResourceDefinition of %s/v1", groupAPIExtensions)
	}
	served, err := servedVersion(crd, version)
	if err != nil {
		return nil, fmt.Errorf("cannot derive readiness rules of CustomResourceDefinition %q: %w", crd.GetName(), err)
	}
	r := &Rules{Custom: true}
	r.readVersion(served)
	r.readAnnotations(crd.GetAnnotations())
	r.readClaim(crd)
	r.readCatalog(crd)
	r.paths, r.problems = r.parse()
	return r, nil
}

// servedVersion finds the entry of spec.versions.
func servedVersion(crd *unstructured.Unstructured, version string) (map[string]any, error) {
	var names []string
	for _, item := range listAt(crd.Object, "spec", "versions") {
		v, _ := item.(map[string]any)
		if served, _ := v["served"].(bool); !served {
			continue
		}
		name, _ := v["name"].(string)
		if name == version {
			return v, nil
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("version %q is not served, served are %q", version, names)
}

// readVersion reads what the version says about its status. The subresource
// alone counts as declaring one, whatever the schema leaves open.
func (r *Rules) readVersion(v map[string]any) {
	_, r.HasStatusSubresource = mapAt(v, "subresources")["status"]
	properties := mapAt(v, "schema", "openAPIV3Schema", "properties")
	_, declared := properties["status"]
	r.DeclaresStatus = declared || r.HasStatusSubresource
	_, r.DeclaresConditions = mapAt(properties, "status", "properties")["conditions"]
}

func (r *Rules) readAnnotations(annotations map[string]string) {
	smith := func(key string) string { return r.readSmith(annotations, key) }
	r.FieldPath = smith(keyFieldPath)
	r.FieldValue = smith(keyFieldValue)
	r.ExistsKind = smith(keyExistsKind)
	r.readExistsVersion(smith(keyExistsVersion))
	r.OutputNameField = smith(keyOutputNameField)
	r.SupportEnabled = smith(keySupportEnabled) == "true"
	r.OutputKind = annotations[keyOutputKind]
	r.GenerationPath = annotations[keyGenerationPath]
}

// readSmith reads one annotation in all its spellings. Present but empty is
// stated as a problem: Smith drops such a rule without a word.
func (r *Rules) readSmith(annotations map[string]string, key string) string {
	value, from := "", ""
	for _, spelling := range spellings(key) {
		v, found := annotations[spelling]
		if !found {
			continue
		}
		if v == "" {
			r.problems = append(r.problems, fmt.Sprintf("annotation %s is empty: Smith ignores an empty rule, so give it a value or remove it", spelling))
			continue
		}
		if from != "" && v != value {
			r.problems = append(r.problems, fmt.Sprintf("annotations %s and %s differ: keep one", from, spelling))
			continue
		}
		value, from = v, spelling
	}
	return value
}

// spellings lists the full annotation keys in the order of preference.
func spellings(key string) []string {
	forms := []string{key}
	if rest, ok := strings.CutPrefix(key, "Cr"); ok {
		forms = append(forms, "Crd"+rest)
	}
	var keys []string
	for _, form := range forms {
		keys = append(keys, "smith.atlassian.com/"+form, "smith.a.c/"+form)
	}
	return keys
}

func (r *Rules) readExistsVersion(value string) {
	if value == "" {
		return
	}
	gv, err := schema.ParseGroupVersion(value)
	if err != nil || gv.Version == "" {
		r.problems = append(r.problems, fmt.Sprintf("annotation %s is %q: write group/version, for example smith.atlassian.com/v1", keyExistsVersion, truncate(value, 100)))
		gv = schema.GroupVersion{Version: value}
	}
	r.ExistsGroup, r.ExistsVersion = gv.Group, gv.Version
}

// readClaim makes a claim its own K: the name of its connection Secret is
// published on the claim itself.
func (r *Rules) readClaim(crd *unstructured.Unstructured) {
	if !isClaim(crd) || r.ExistsKind != "" {
		return
	}
	r.OutputFromSelf = true
	if r.OutputNameField == "" {
		r.OutputNameField, r.OutputOptional = claimOutputField, true
	}
	if r.OutputKind == "" {
		r.OutputKind = kindSecret
	}
}

func isClaim(crd *unstructured.Unstructured) bool {
	if role, found := crd.GetAnnotations()[keyRole]; found {
		return role == "claim"
	}
	return slices.Contains(listAt(crd.Object, "spec", "names", "categories"), any("claim"))
}

// readCatalog gives Service Catalog's binding its output also where the kind
// is served by a CRD.
func (r *Rules) readCatalog(crd *unstructured.Unstructured) {
	gk := schema.GroupKind{Group: textAt(crd.Object, "spec", "group"), Kind: textAt(crd.Object, "spec", "names", "kind")}
	known := RulesForBuiltin(gk)
	if r.OutputNameField != "" || r.ExistsKind != "" || known.OutputNameField == "" {
		return
	}
	r.OutputFromSelf, r.OutputNameField, r.OutputKind = known.OutputFromSelf, known.OutputNameField, known.OutputKind
}
