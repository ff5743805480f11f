package resource

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Identity names one object of a cluster, whatever version it is written in.
// Namespace is empty for cluster-scoped objects. Comparable; use it as a map key.
type Identity struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// GroupKind returns the group and kind of the object.
func (i Identity) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: i.Group, Kind: i.Kind}
}

// String returns "Kind.group namespace/name", without the parts that are empty.
func (i Identity) String() string {
	var b strings.Builder
	b.WriteString(i.GroupKind().String())
	b.WriteByte(' ')
	if i.Namespace != "" {
		b.WriteString(i.Namespace)
		b.WriteByte('/')
	}
	b.WriteString(i.Name)
	return b.String()
}

// Compare orders identities by group, kind, namespace and name.
func (i Identity) Compare(j Identity) int {
	return cmp.Or(
		strings.Compare(i.Group, j.Group),
		strings.Compare(i.Kind, j.Kind),
		strings.Compare(i.Namespace, j.Namespace),
		strings.Compare(i.Name, j.Name),
	)
}
