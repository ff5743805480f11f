package observer

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// transformer turns what the API server sent into what a store keeps. Input is
// never modified: maps are rebuilt at their exact size with shared strings.
type transformer struct {
	manager string
	fields  *fieldTable
	strings *stringTable
}

// record builds the stored form of an object. kind is that of the watched
// resource and replaces PartialObjectMetadata; it may be empty.
func (t *transformer) record(v any, kind schema.GroupVersionKind, slim bool) (*record, error) {
	switch o := v.(type) {
	case *record:
		return o, nil
	case *unstructured.Unstructured:
		return t.whole(o, slim), nil
	case *metav1.PartialObjectMetadata:
		return t.partial(o, kind, slim)
	}
	return nil, fmt.Errorf("cannot store an object of type %T", v)
}

func (t *transformer) whole(u *unstructured.Unstructured, slim bool) *record {
	f := fieldsFrom(managedFields(u.Object), t.manager, t.fields)
	t.strings.mu.Lock()
	defer t.strings.mu.Unlock()
	out := make(map[string]any, len(u.Object))
	for k, v := range u.Object {
		switch k {
		case "metadata":
			out["metadata"] = t.metadata(v, slim)
		case "apiVersion", "kind":
			out[t.strings.one(k)] = t.shared(v)
		default:
			if !slim {
				out[t.strings.one(k)] = t.rebuilt(v)
			}
		}
	}
	return &record{Unstructured: &unstructured.Unstructured{Object: out}, fields: f}
}

// metadata drops managedFields and shares values, most of which repeat.
func (t *transformer) metadata(v any, slim bool) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		if k == "managedFields" || (slim && !kept(k)) {
			continue
		}
		switch k {
		case "name", "uid", "resourceVersion":
			out[t.strings.one(k)] = v
		case "labels", "ownerReferences", "finalizers":
			out[t.strings.one(k)] = t.strings.value(v, t.shared)
		case "annotations":
			out[t.strings.one(k)] = t.rebuilt(v)
		default:
			out[t.strings.one(k)] = t.shared(v)
		}
	}
	return out
}

func kept(field string) bool {
	switch field {
	case "name", "namespace", "uid", "resourceVersion", "generation", "deletionTimestamp", "ownerReferences":
		return true
	}
	return false
}

// rebuilt shares the field names only; shared the string values too.
func (t *transformer) rebuilt(v any) any {
	switch n := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(n))
		for k, v := range n {
			out[t.strings.one(k)] = t.rebuilt(v)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i := range n {
			out[i] = t.rebuilt(n[i])
		}
		return out
	}
	return v
}

func (t *transformer) shared(v any) any {
	switch n := v.(type) {
	case string:
		return t.strings.one(n)
	case map[string]any:
		out := make(map[string]any, len(n))
		for k, v := range n {
			out[t.strings.one(k)] = t.shared(v)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i := range n {
			out[i] = t.shared(n[i])
		}
		return out
	}
	return v
}

// partial makes an unstructured object of metadata alone.
func (t *transformer) partial(p *metav1.PartialObjectMetadata, kind schema.GroupVersionKind, slim bool) (*record, error) {
	lean := *p
	lean.ManagedFields = nil
	if _, ok := lean.Annotations[lastAppliedAnnotation]; ok {
		lean.Annotations = without(lean.Annotations, lastAppliedAnnotation)
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&lean)
	if err != nil {
		return nil, fmt.Errorf("cannot convert the metadata of %q: %w", p.Name, err)
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(kind)
	return t.whole(u, slim), nil
}

func without(m map[string]string, key string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}
