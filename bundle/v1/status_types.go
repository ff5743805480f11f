package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Types of conditions. A Bundle has InProgress, Ready and Error, each of its
// resources has Blocked, too. All are present as soon as Truss saw the Bundle.
const (
	// ConditionBlocked says that a resource waits for others to be ready.
	ConditionBlocked = "Blocked"
	// ConditionInProgress says that something is still being done or awaited.
	ConditionInProgress = "InProgress"
	// ConditionReady says that everything is as it should be.
	ConditionReady = "Ready"
	// ConditionError says that something failed; the reason says whether Truss
	// tries again by itself (RetriableError) or not (TerminalError).
	ConditionError = "Error"
)

// BundleStatus is what Truss observed of a Bundle.
type BundleStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are InProgress, Ready and Error of the Bundle as a whole.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// message is the first cause of the Bundle not being ready.
	// +optional
	Message string `json:"message,omitempty"`

	// progress is "ready/total".
	// +optional
	Progress string `json:"progress,omitempty"`

	// summary counts the resources by state.
	// +optional
	Summary Summary `json:"summary,omitempty,omitzero"`

	// resourceStatuses are the states of the resources, in the order of the spec.
	// In a Bundle of more than 200 resources only those that are not ready are
	// listed, at most 200.
	// +optional
	// +listType=atomic
	ResourceStatuses []ResourceStatus `json:"resourceStatuses,omitempty"`

	// objectsToDelete are objects of the Bundle that are no longer in its spec and
	// not deleted yet, sorted. They are deleted once the Bundle is ready.
	// +optional
	// +listType=atomic
	ObjectsToDelete []ObjectToDelete `json:"objectsToDelete,omitempty"`
}

// Summary counts the resources of a Bundle by state.
type Summary struct {
	// total is the number of resources.
	Total int32 `json:"total"`
	// ready is the number of resources that are ready.
	Ready int32 `json:"ready"`
	// inProgress is the number of resources that are being created or awaited.
	InProgress int32 `json:"inProgress"`
	// blocked is the number of resources that wait for others.
	Blocked int32 `json:"blocked"`
	// error is the number of resources that failed.
	Error int32 `json:"error"`
}

// ResourceStatus is the state of one resource of a Bundle.
type ResourceStatus struct {
	// name is the name of the resource in the spec.
	Name string `json:"name"`
	// conditions are Blocked, InProgress, Ready and Error of the resource.
	// +listType=atomic
	Conditions []metav1.Condition `json:"conditions"`
}

// ObjectToDelete names an object that is no longer in the spec.
type ObjectToDelete struct {
	// group is the API group of the object; empty for core kinds.
	Group string `json:"group"`
	// version is the API version the object was last written in.
	Version string `json:"version"`
	// kind is the kind of the object.
	Kind string `json:"kind"`
	// name is the name of the object.
	Name string `json:"name"`
}
