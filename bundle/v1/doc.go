// Package v1 holds the Bundle API of group smith.atlassian.com: what people
// write with kubectl and what Truss answers in the status.
//
//	kubectl apply  ->  Bundle (this package)  ->  bundle.Compile  ->  graph
//	kubectl get    <-  BundleStatus           <-  bundle.Status   <-  run
//
// The group, the kind and the field names are those of Atlassian's Smith, so
// that Bundles written for it apply unchanged. The package has types only; it
// is safe to import from clients.
//
// +kubebuilder:object:generate=true
// +groupName=smith.atlassian.com
package v1
