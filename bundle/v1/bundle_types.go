package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Finalizer guards a Bundle until its objects are gone; the name is Smith's.
const Finalizer = "smith.atlassian.com/deleteResources"

// Values of Reference.modifier.
const (
	// ModifierOutput reads the identity of the need's output object.
	ModifierOutput = "output"
	// ModifierBindSecret reads the data of the need's output object.
	ModifierBindSecret = "bindsecret"
)

// Bundle is a set of objects of one namespace that are created in the order
// of their references, each as soon as everything it refers to is ready, and
// deleted in reverse. Values of ready objects can be used in later ones.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=bundles,singular=bundle,shortName=bdl,categories=truss,scope=Namespaced
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every resource is ready"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`,description="Ready resources of all resources"
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,description="What the Bundle waits for or fails on"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:annotations="smith.atlassian.com/SupportEnabled=true"
// +kubebuilder:metadata:annotations=`smith.atlassian.com/CrReadyWhenFieldPath={$.status.conditions[?(@.type=="Ready")].status}`
// +kubebuilder:metadata:annotations="smith.atlassian.com/CrReadyWhenFieldValue=True"
type Bundle struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the set of objects that should exist.
	// +required
	Spec BundleSpec `json:"spec"`

	// status is what Truss observed. It is written by Truss only.
	// +optional
	Status BundleStatus `json:"status,omitempty,omitzero"`
}

// BundleList is a list of Bundles.
//
// +kubebuilder:object:root=true
type BundleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the Bundles of the list.
	Items []Bundle `json:"items"`
}

// BundleSpec is the set of objects that should exist.
type BundleSpec struct {
	// resources are the objects of the Bundle. Their order matters only among
	// resources that do not refer to each other. At most 1 MiB altogether; split
	// larger sets over several Bundles. Above about 1,900 resources use
	// `kubectl apply --server-side`.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10000
	Resources []Resource `json:"resources"`

	// serviceAccountName is the service account of the Bundle's namespace whose
	// rights are used to write and read the objects. When it is not set, the
	// manager's default is used.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// Resource is one object of a Bundle and the resources it needs.
type Resource struct {
	// name identifies the resource within the Bundle: references and the status
	// use it. It need not be the name of the object. A lower-case DNS subdomain.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`

	// references are the resources that must be ready before this one is
	// created or changed, and the values that are read from them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	References []Reference `json:"references,omitempty"`

	// spec says what the object looks like.
	// +required
	Spec ResourceSpec `json:"spec"`
}

// ResourceSpec says what an object looks like.
//
// +kubebuilder:validation:XValidation:rule="has(self.object)",message="object is required"
type ResourceSpec struct {
	// object is the object to create, with apiVersion, kind and metadata.name.
	// Its namespace is the Bundle's. In string values `!{name}` is replaced by the value
	// of the reference of that name: a string that is nothing else takes the value with
	// its type, in a longer string scalars are printed. `!!{name}` is the text `!{name}`.
	// apiVersion, kind, name and namespace must not use references.
	//
	// It is no embedded resource for the API server: that would validate labels and
	// names before references are replaced.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Object *runtime.RawExtension `json:"object,omitempty"`
}

// Reference makes a resource wait for another one, and may read a value of it.
type Reference struct {
	// name is how the value is used: `!{name}` in the object. Without a name the
	// reference only orders. Unique within the resource.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*$`
	Name string `json:"name,omitempty"`

	// resource is the name of the resource of this Bundle that must be ready first.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Resource string `json:"resource"`

	// path is the JSONPath of the value in the live object, such as status.endpoint or
	// metadata.annotations['example\.com/key'], without braces. With modifier output it is
	// name or kind; with modifier bindsecret it is data.<key>.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`

	// example is a value like the one that is expected. When every reference that the
	// object uses has one, the object is validated before its needs exist.
	// +optional
	Example *apiextensionsv1.JSON `json:"example,omitempty"`

	// modifier changes what path reads. output: the name or kind of the Secret or
	// ConfigMap that the resource puts out. bindsecret: a value of its data, as plain
	// text; it may be used in a Secret only, or in an object with the annotation
	// truss.dev/allow-secret-data: "true".
	// +optional
	// +kubebuilder:validation:Enum=output;bindsecret
	Modifier string `json:"modifier,omitempty"`
}
