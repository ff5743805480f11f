package writer

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
)

// Conflicts are fields that others hold by right.
type Conflicts []observer.Conflict

// String says who holds what, in one line.
func (c Conflicts) String() string {
	lines := make([]string, len(c))
	for i := range c {
		lines[i] = c[i].String()
	}
	return "left to others: " + strings.Join(lines, "; ") + " (annotate the object with " + resource.ForceConflictsAnnotation + ": \"true\" to take it)"
}

// Scope decides whether an owner may write an object at all. It is asked with
// what the API server says of the kind, never with what the author says.
type Scope interface {
	Check(o *resource.Owner, id resource.Identity, m *meta.RESTMapping) *Failure
}

// OwnNamespace is the scope of a namespaced owner: objects of its own
// namespace, never cluster-scoped ones. Without impersonation the RBAC group
// is refused, too: the manager's rights are not the author's.
type OwnNamespace struct{}

// Check implements Scope.
func (OwnNamespace) Check(o *resource.Owner, id resource.Identity, m *meta.RESTMapping) *Failure {
	if m.Scope.Name() != meta.RESTScopeNameNamespace {
		return fail(Terminal, ReasonClusterScoped, "%s is cluster-scoped: a %s may contain objects of its own namespace only", id, o.Kind.Kind)
	}
	if id.Namespace != o.Namespace {
		return fail(Terminal, ReasonForeignNamespace, "%s is not in namespace %q of its %s: remove metadata.namespace", id, o.Namespace, o.Kind.Kind)
	}
	if id.Group == "rbac.authorization.k8s.io" && o.ServiceAccount == "" {
		return fail(Terminal, ReasonRBACRefused, "%s would grant rights in the name of Truss: name a service account in spec.serviceAccountName that may grant them", id)
	}
	return nil
}

// CheckSecretData refuses to put the data of a Secret into anything but a
// Secret, unless the object says that it is meant.
func CheckSecretData(r resource.Rendered) *Failure {
	if !r.SecretData || r.Object == nil {
		return nil
	}
	secret := r.Object.GetKind() == "Secret" && r.Object.GetAPIVersion() == "v1"
	if secret || r.Object.GetAnnotations()[resource.AllowSecretDataAnnotation] == "true" {
		return nil
	}
	return fail(Terminal, ReasonSecretData, "data of a Secret may be used in a Secret only: refer to the Secret by name, or annotate the object with %s: \"true\"",
		resource.AllowSecretDataAnnotation)
}

// FromAPI says whether an error is an answer of the API server.
func FromAPI(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}
