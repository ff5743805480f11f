package observer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/cluster"
)

// Key names one watch. Users of equal keys share one Store. Comparable.
type Key struct {
	// Account is who watches; the zero value is the manager.
	Account cluster.Account
	// Resource is what is watched.
	Resource schema.GroupVersionResource
	// Namespace is "" for cluster-scoped resources and for all namespaces.
	Namespace string
	// Selector is a label selector in its string form; "" selects all.
	Selector string
	// Field is a field selector, "metadata.name=x" for a named watch.
	Field string
	// MetadataOnly watches PartialObjectMetadata instead of whole objects.
	MetadataOnly bool
	// Slim keeps of each object only what tells it apart: name, namespace,
	// UID, versions, deletion timestamp and owner references.
	Slim bool
}

// String names the watch in logs and messages.
func (k Key) String() string {
	r := k.Resource.Resource
	if k.Resource.Group != "" {
		r += "." + k.Resource.Group
	}
	s := fmt.Sprintf("%s/%s as %s", r, k.Resource.Version, k.Account)
	if k.Namespace != "" {
		s += " in " + k.Namespace
	}
	if k.Selector != "" {
		s += " where " + k.Selector
	}
	if k.Field != "" {
		s += " where " + k.Field
	}
	if k.MetadataOnly || k.Slim {
		s += " (metadata)"
	}
	return s
}

// scope decides which objects a watch can see at all.
type scope struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
}

func newScope(k Key) (scope, error) {
	s := scope{namespace: k.Namespace}
	var err error
	if s.labels, err = labels.Parse(k.Selector); err != nil {
		return s, fmt.Errorf("cannot parse label selector %q: %w", k.Selector, err)
	}
	if s.fields, err = fields.ParseSelector(k.Field); err != nil {
		return s, fmt.Errorf("cannot parse field selector %q: %w", k.Field, err)
	}
	return s, nil
}

// sees says whether the watch delivers an object with these names and labels.
// Of field selectors only those on name and namespace are judged.
func (s *scope) sees(n types.NamespacedName, l map[string]string) bool {
	if s.namespace != "" && s.namespace != n.Namespace {
		return false
	}
	for _, r := range s.fields.Requirements() {
		value := map[string]string{"metadata.name": n.Name, "metadata.namespace": n.Namespace}
		if got, ok := value[r.Field]; ok && (got == r.Value) != (r.Operator != "!=") {
			return false
		}
	}
	return s.labels.Empty() || s.labels.Matches(labels.Set(l))
}
