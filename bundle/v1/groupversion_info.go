package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Names by which the API server knows Bundles.
const (
	// Group is the API group of Bundles.
	Group = "smith.atlassian.com"
	// Version is the only served version.
	Version = "v1"
	// BundleKind is the kind of one Bundle.
	BundleKind = "Bundle"
	// BundlePlural is the resource name in URLs and roles.
	BundlePlural = "bundles"
)

var (
	// GroupVersion is smith.atlassian.com/v1.
	GroupVersion = schema.GroupVersion{Group: Group, Version: Version}
	// BundleGVK is the group, version and kind of a Bundle.
	BundleGVK = GroupVersion.WithKind(BundleKind)
	// BundleGVR is the group, version and resource of Bundles.
	BundleGVR = GroupVersion.WithResource(BundlePlural)
	// SchemeBuilder collects what AddToScheme registers.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme registers Bundle and BundleList with a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Bundle{}, &BundleList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
