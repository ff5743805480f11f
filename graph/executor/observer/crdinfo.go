package observer

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/readiness"
)

// crdInfo is what is kept of a CRD. Its schemas are not.
type crdInfo struct {
	uid         types.UID
	version     string
	kind        schema.GroupKind
	established bool
	terminating bool
	rules       map[string]versionRules // by served version
	digest      [sha256.Size]byte
}

type versionRules struct {
	rules *readiness.Rules
	err   error
}

// readCRD cuts a CRD down. The digest covers all that users of the kind can
// notice: spec, annotations, and whether it is established or going away.
func readCRD(crd *unstructured.Unstructured) (*crdInfo, error) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	info := &crdInfo{
		uid:         crd.GetUID(),
		version:     crd.GetResourceVersion(),
		kind:        schema.GroupKind{Group: group, Kind: kind},
		established: conditionTrue(crd, "Established"),
		terminating: crd.GetDeletionTimestamp() != nil,
		rules:       map[string]versionRules{},
	}
	for _, version := range servedVersions(crd) {
		rules, err := readiness.RulesFromCRD(crd, version)
		info.rules[version] = versionRules{rules: rules, err: err}
	}
	raw, err := json.Marshal([]any{
		info.uid, info.established, info.terminating,
		without(crd.GetAnnotations(), lastAppliedAnnotation), crd.Object["spec"],
	})
	if err != nil {
		return nil, fmt.Errorf("cannot digest CRD %q: %w", crd.GetName(), err)
	}
	info.digest = sha256.Sum256(raw)
	return info, nil
}

func servedVersions(crd *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var out []string
	for _, v := range list {
		m, _ := v.(map[string]any)
		name, _ := m["name"].(string)
		if served, _ := m["served"].(bool); served && name != "" {
			out = append(out, name)
		}
	}
	return out
}

func conditionTrue(crd *unstructured.Unstructured, kind string) bool {
	list, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, v := range list {
		m, _ := v.(map[string]any)
		if m["type"] == kind {
			return m["status"] == "True"
		}
	}
	return false
}
