package observer

import (
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Options say whom to observe, and from where.
type Options struct {
	// Config has the rights of an administrator. The observer opens
	// connections of its own with it.
	Config *rest.Config
	// AuditLog is the path of the API server's audit log: JSON, blocking mode,
	// one file. See AuditPolicy for what it should tell.
	AuditLog string
	// Users are the identities of Truss, as the API server names them. What
	// they send as somebody else counts as theirs.
	Users []string
	// Namespace is the controller namespace; truss-system by default. Truss's
	// own Secrets are kept there.
	Namespace string
	// Kinds are watched; empty means all that can be listed and watched but
	// events and leases, with those whose CRDs appear later. CRDs, namespaces
	// and ControllerRevisions are watched in any case.
	Kinds []schema.GroupVersionResource
	// OwnerGroups are the API groups of objects that Truss compiles: it writes
	// finalizers, the slot label and the status there. Truss's own by default.
	OwnerGroups []string
	// Exclusions says that templates under test may render nothing. Then a
	// need that never existed blocks nobody, and an object may be deleted
	// before those that need it while its owner lives.
	Exclusions bool
}

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Config == nil:
		return o, errors.New("cannot observe: no client configuration given")
	case o.AuditLog == "":
		return o, errors.New("cannot observe: no audit log given")
	case len(o.Users) == 0:
		return o, errors.New("cannot observe: no user given")
	}
	if o.Namespace == "" {
		o.Namespace = "truss-system"
	}
	if len(o.OwnerGroups) == 0 {
		o.OwnerGroups = []string{"smith.atlassian.com", "stacks.crossplane.io", "packages.crossplane.io"}
	}
	o.Users = slices.Clone(o.Users)
	return o, nil
}
