package deploy

import (
	"bytes"
	_ "embed"
)

var (
	//go:embed default/namespace.yaml
	namespace []byte
	//go:embed default/account.yaml
	account []byte
	//go:embed default/manager-role.yaml
	managerRole []byte
	//go:embed default/namespace-role.yaml
	namespaceRole []byte
	//go:embed default/bundles-role.yaml
	bundlesRole []byte
	//go:embed localdev/rbac.yaml
	localRBAC []byte
)

// ManagerManifests returns, as one stream of YAML documents in the order in
// which they can be applied, the manager's namespace truss-system, its
// ServiceAccount truss-manager and the rights it has in deploy/default. A test
// that runs the manager under them shows when one is missing.
func ManagerManifests() []byte {
	return stream(namespace, account, managerRole, namespaceRole, bundlesRole)
}

// LocalManifests returns ManagerManifests and the right to get, list, watch,
// create, update, patch and delete every kind, which `truss local up` alone
// gives its manager.
func LocalManifests() []byte {
	return stream(ManagerManifests(), localRBAC)
}

// stream joins YAML files into one stream.
func stream(files ...[]byte) []byte {
	return bytes.Join(files, []byte("---\n"))
}
