package writer

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph/resource"
)

// maxNeedReferences bounds the ownerReferences of one child to its needs.
const maxNeedReferences = 32

// Desired is an object as it is to be applied, and the hash that tells
// whether that was done.
type Desired struct {
	Identity resource.Identity
	// Object carries labels and ownerReferences, not yet the stamp, which
	// depends on whether the live object was adopted. Read-only.
	Object *unstructured.Unstructured
	// Hash of the normalised object.
	Hash string
	// SecretData says that the object holds data of a Secret, so that answers
	// about it may quote values which nobody else is to see.
	SecretData bool
}

// Prepare adds ownership to a rendered object, which it does not change, and
// hashes the outcome. needs are references to same-namespace needs, without
// controller; the first 32 are kept. It fails with *resource.InvalidError for
// metadata that authors may not set.
func Prepare(o *resource.Owner, id resource.Identity, rendered *unstructured.Unstructured, needs []metav1.OwnerReference) (*Desired, error) {
	if err := checkRendered(id, rendered); err != nil {
		return nil, err
	}
	u := decorate(o, id, rendered, needs)
	hash, err := hashOf(u)
	if err != nil {
		return nil, fmt.Errorf("cannot hash %s: %w", id, err)
	}
	return &Desired{Identity: id, Object: u, Hash: hash}, nil
}

// checkRendered is the last check before anything is written: what the author
// rendered must be what the graph says, without reserved metadata.
func checkRendered(id resource.Identity, u *unstructured.Unstructured) error {
	if err := resource.CheckMetadata("", u); err != nil {
		return err
	}
	if u.GetKind() != id.Kind || u.GetName() != id.Name || u.GroupVersionKind().Group != id.Group ||
		(u.GetNamespace() != "" && u.GetNamespace() != id.Namespace) {
		return &resource.InvalidError{Reason: "IdentityChanged", Message: fmt.Sprintf(
			"the rendered object is %s %s/%s, but the graph has %s: kind, name and namespace must not depend on what is rendered",
			u.GroupVersionKind().GroupKind(), u.GetNamespace(), u.GetName(), id)}
	}
	return nil
}

// decorate copies the top level and the metadata; everything below is shared.
func decorate(o *resource.Owner, id resource.Identity, rendered *unstructured.Unstructured, needs []metav1.OwnerReference) *unstructured.Unstructured {
	object := maps.Clone(rendered.Object)
	delete(object, "status")
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	delete(metadata, "creationTimestamp")
	object["metadata"] = metadata
	u := &unstructured.Unstructured{Object: object}
	if id.Namespace != "" {
		u.SetNamespace(id.Namespace)
	}
	labels := u.GetLabels() // a copy
	if labels == nil {
		labels = map[string]string{}
	}
	for k, v := range o.Labels() {
		if _, set := labels[k]; set && k == resource.ManagedByLabel {
			continue // resource.CheckMetadata allows only our own value or a policy's
		}
		labels[k] = v
	}
	u.SetLabels(labels)
	if refs := references(o, id, u.GetOwnerReferences(), needs); len(refs) > 0 {
		u.SetOwnerReferences(refs)
	}
	foldStringData(id, object)
	return u
}

// references gives the author's own references, then the owner as controller,
// then the needs (Smith: Bundle, then dependencies in order of reference). No
// UID comes twice: the API server keys the list by it.
func references(o *resource.Owner, id resource.Identity, own, needs []metav1.OwnerReference) []metav1.OwnerReference {
	refs := slices.DeleteFunc(slices.Clone(own), func(r metav1.OwnerReference) bool { return r.UID == o.UID })
	if o.Namespace == "" || id.Namespace == o.Namespace {
		refs = append(refs, o.Reference(true))
	}
	for _, need := range needs[:min(len(needs), maxNeedReferences)] {
		if !slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return r.UID == need.UID }) {
			refs = append(refs, need)
		}
	}
	return refs
}

// foldStringData moves a Secret's stringData into data, as the API server
// does: applied as stringData the keys would have no owner afterwards.
func foldStringData(id resource.Identity, object map[string]any) {
	plain, ok := object["stringData"].(map[string]any)
	if !ok || id.GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return
	}
	data, _ := object["data"].(map[string]any)
	data = maps.Clone(data)
	if data == nil {
		data = make(map[string]any, len(plain))
	}
	for k, v := range plain {
		text, isString := v.(string)
		if !isString {
			return // the API server says what is wrong with it
		}
		data[k] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(object, "stringData")
	object["data"] = data
}

// hashOf hashes the object without nulls, which server-side apply takes as
// absent. Empty maps and lists stay: in a NetworkPolicy [{}] allows what []
// forbids, and an empty selector means all where none means the own namespace.
// encoding/json sorts keys.
func hashOf(u *unstructured.Unstructured) (string, error) {
	text, err := json.Marshal(withoutNulls(u.Object))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:15]), nil
}

// withoutNulls drops fields that are null.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			if item != nil {
				out[k] = withoutNulls(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutNulls(v[i])
		}
		return out
	}
	return v
}

// within says whether live has all values of desired. Defaults and values that
// the API server rewrites make it false without need, so it is asked only
// where no hash tells what was applied.
func within(desired, live any) bool {
	switch want := desired.(type) {
	case nil:
		return true
	case map[string]any:
		have, ok := live.(map[string]any)
		for k, v := range want {
			if !ok && v != nil || !within(v, have[k]) {
				return false
			}
		}
		return true
	case []any:
		have, _ := live.([]any)
		if len(have) != len(want) {
			return false
		}
		for i := range want {
			if !within(want[i], have[i]) {
				return false
			}
		}
		return true
	}
	return fmt.Sprint(desired) == fmt.Sprint(live)
}
