package resource

// Labels that tie every child to its owner. All are set by the executor and
// reserved: a desired object that sets one is refused.
const (
	// OwnerLabel holds the owner's UID.
	OwnerLabel = "truss.dev/owner"
	// ManagerLabel holds the Stack's UID, or ManagerCore.
	ManagerLabel = "truss.dev/manager"
	// SlotLabel holds a hash of the owner's UID, 0 to 63.
	SlotLabel = "truss.dev/slot"
	// ManagedByLabel is the recommended label; its value is ManagedByTruss.
	ManagedByLabel = "app.kubernetes.io/managed-by"

	// ManagerCore is the value of ManagerLabel for owners of the core manager.
	ManagerCore = "core"
	// ManagedByTruss is the value of ManagedByLabel.
	ManagedByTruss = "truss"
	// Slots is the number of slots owners are spread over.
	Slots = 64
)

// AppliedAnnotation holds format, hash of the desired state and MAC of a
// child: "<format>:<hash>:<mac>". Set by the executor, reserved.
const AppliedAnnotation = "truss.dev/applied"

// InventoryFinalizer guards an inventory record; it is released last.
const InventoryFinalizer = "truss.dev/inventory"

// Annotations that authors may set on a desired object.
const (
	// AdoptAnnotation "true" takes over an existing object without a
	// controller and detaches it at teardown; "delete" deletes it then.
	AdoptAnnotation = "truss.dev/adopt"
	// PruneAnnotation "early" lets an object that left the graph go before
	// the new graph is Ready.
	PruneAnnotation = "truss.dev/prune"
	// OnImmutableAnnotation "recreate" replaces an object whose immutable
	// field changed: delete, wait until gone, create.
	OnImmutableAnnotation = "truss.dev/on-immutable"
	// ReadyWhenAnnotation is "Exists" or a CEL expression over self.
	ReadyWhenAnnotation = "truss.dev/ready-when"
	// AllowSecretDataAnnotation "true" lets values from Secrets into an
	// object that is not a Secret.
	AllowSecretDataAnnotation = "truss.dev/allow-secret-data"
	// ForceConflictsAnnotation "true" takes fields back that another apply
	// manager or a subresource holds.
	ForceConflictsAnnotation = "truss.dev/force-conflicts"
	// DeletionAnnotation "detach" leaves the object in place when it leaves
	// the graph or its owner is deleted (the cli-utils convention).
	DeletionAnnotation = "client.lifecycle.config.k8s.io/deletion"
	// DeletionDelayAnnotation holds a Go duration for which a pruned object
	// is kept (Smith's soft delete).
	DeletionDelayAnnotation = "smith.atlassian.com/deletionDelay"
	// DeletionTimestampAnnotation is when a delayed deletion began (RFC 3339,
	// UTC). Set by the executor, reserved.
	DeletionTimestampAnnotation = "smith.atlassian.com/deletionTimestamp"
)
