// Package deploy holds what an operator applies to a cluster: the custom
// resource definitions, which are generated from the Go types and embedded
// in the binary, and the kustomize bases, dashboards and examples beside
// them.
//
//	bundle/v1, packagemanager/api/...  --controller-gen-->  crds/*.yaml
//	crds/*.yaml  --embed-->  CRDs()  -->  truss local up, tests, lint
//
// The package has no logic of its own; run `go generate ./deploy` after a
// change of an API type.
package deploy

//go:generate go tool -modfile=../internal/tools/go.mod controller-gen object paths=../bundle/v1
//go:generate go tool -modfile=../internal/tools/go.mod controller-gen crd paths=../bundle/v1 output:crd:artifacts:config=crds
