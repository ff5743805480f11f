package bundle

// Reasons of the *resource.InvalidError that Compile and renders give. Each is
// the reason of an Error condition and says what kind of mistake it is; the
// message says where and what to write instead.
const (
	// ReasonTooLarge is a spec over 1 MiB, or an object that its references
	// make too large to be stored.
	ReasonTooLarge = "TooLarge"
	// ReasonInvalidName is a resource or reference name outside its pattern.
	ReasonInvalidName = "InvalidName"
	// ReasonDuplicateResource is a resource name used twice.
	ReasonDuplicateResource = "DuplicateResource"
	// ReasonDuplicateIdentity is one object described by two resources.
	ReasonDuplicateIdentity = "DuplicateIdentity"
	// ReasonInvalidObject is an object that is none: no map, no apiVersion, no
	// kind, no metadata.
	ReasonInvalidObject = "InvalidObject"
	// ReasonMissingName is an object without metadata.name.
	ReasonMissingName = "MissingName"
	// ReasonGenerateName is an object with metadata.generateName.
	ReasonGenerateName = "GenerateName"
	// ReasonForeignNamespace is an object of another namespace.
	ReasonForeignNamespace = "ForeignNamespace"
	// ReasonDynamicIdentity is a reference in apiVersion, kind, name,
	// namespace or an annotation that Truss reads before it renders.
	ReasonDynamicIdentity = "DynamicIdentity"
	// ReasonReservedMetadata is metadata that only Truss or the API server sets.
	ReasonReservedMetadata = "ReservedMetadata"
	// ReasonInvalidDeletionDelay is a deletionDelay that is no duration.
	ReasonInvalidDeletionDelay = "InvalidDeletionDelay"
	// ReasonUnknownReference is a reference to a resource that the Bundle does
	// not have.
	ReasonUnknownReference = "UnknownReference"
	// ReasonDuplicateReference is a reference name used twice in one resource.
	ReasonDuplicateReference = "DuplicateReference"
	// ReasonUndeclaredReference is a !{name} without a reference of that name.
	ReasonUndeclaredReference = "UndeclaredReference"
	// ReasonInvalidPath is a path that cannot be evaluated, or finds several
	// values.
	ReasonInvalidPath = "InvalidPath"
	// ReasonInvalidModifier is an unknown modifier, or one that the referenced
	// resource cannot serve.
	ReasonInvalidModifier = "InvalidModifier"
	// ReasonInvalidValue is a value that does not fit where it is used.
	ReasonInvalidValue = "InvalidValue"
	// ReasonInvalidExample is an example that does not fit where it is used.
	ReasonInvalidExample = "InvalidExample"
	// ReasonSecretData is data of a Secret that would leave Secrets.
	ReasonSecretData = "SecretData"
	// ReasonCycle is references that lead back to their own resource.
	ReasonCycle = "Cycle"
)

// structural reports whether a reason means that the graph as a whole cannot
// be known, so that no resource of it has a state (Smith S02, S03).
func structural(reason string) bool {
	switch reason {
	case ReasonDuplicateResource, ReasonUnknownReference, ReasonCycle, ReasonTooLarge:
		return true
	}
	return false
}
