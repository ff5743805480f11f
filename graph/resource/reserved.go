package resource

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ReasonReservedMetadata is given to desired objects that set metadata which
// belongs to the API server or to Truss.
const ReasonReservedMetadata = "ReservedMetadata"

// serverFields are set by the API server alone.
var serverFields = []string{
	"uid", "resourceVersion", "managedFields", "generation", "generateName",
	"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
}

// UserAnnotations are the annotations of truss.dev that authors may set, sorted.
// All others of that prefix are Truss's own.
func UserAnnotations() []string {
	return []string{
		AdoptAnnotation, AllowSecretDataAnnotation, ForceConflictsAnnotation,
		OnImmutableAnnotation, PruneAnnotation, ReadyWhenAnnotation,
	}
}

// CheckMetadata refuses metadata that authors may not set. at is the field
// path of the object in its owner, for the message. Compilers call it early;
// the writer calls it again on what was rendered.
func CheckMetadata(at string, u *unstructured.Unstructured) *InvalidError {
	field, why := reservedMetadata(u)
	if field == "" {
		return nil
	}
	return &InvalidError{Reason: ReasonReservedMetadata, Field: strings.TrimPrefix(at+".metadata."+field, "."), Message: why}
}

func reservedMetadata(u *unstructured.Unstructured) (field, why string) {
	metadata, _ := u.Object["metadata"].(map[string]any)
	for _, f := range serverFields {
		if _, set := metadata[f]; set {
			return f, "is set by the API server: remove it"
		}
	}
	for i, ref := range u.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller {
			return fmt.Sprintf("ownerReferences[%d].controller", i), "Truss makes the owner the controller: remove it, or set it to false"
		}
	}
	if i := slices.Index(u.GetFinalizers(), InventoryFinalizer); i >= 0 {
		return fmt.Sprintf("finalizers[%d]", i), fmt.Sprintf("%s belongs to Truss: remove it", InventoryFinalizer)
	}
	return reservedKeys(u)
}

func reservedKeys(u *unstructured.Unstructured) (field, why string) {
	labels := u.GetLabels()
	for _, k := range sortedKeys(labels) {
		if strings.HasPrefix(k, "truss.dev/") {
			return "labels[" + k + "]", "labels of truss.dev belong to Truss: remove it"
		}
		if k == ManagedByLabel && labels[k] != ManagedByTruss {
			return "labels[" + k + "]", "Truss sets it to " + ManagedByTruss + ": remove it"
		}
	}
	for _, k := range sortedKeys(u.GetAnnotations()) {
		reserved := strings.HasPrefix(k, "truss.dev/") && !slices.Contains(UserAnnotations(), k)
		if reserved || k == DeletionTimestampAnnotation {
			return "annotations[" + k + "]", "the annotation belongs to Truss: remove it"
		}
	}
	return "", ""
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
