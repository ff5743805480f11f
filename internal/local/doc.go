// Package local is `truss local`: a control plane and Truss's managers, in the
// background, on a person's own machine.
//
//	truss local up ----> controlplane.Start   etcd, Kubernetes, simulated nodes
//	                       | Plane.Apply      Truss's CRDs, account and rights
//	                       | Plane.Run        `truss manager`, as that account
//	                       v
//	                     export KUBECONFIG=DIR/kubeconfig       (stdout)
//	truss local status --> controlplane.Open, Plane.Status
//	truss local down ----> controlplane.Open, Plane.Stop, Plane.Purge
//
// It knows neither the manifests nor the managers' flags: cmd/truss gives both
// to NewCommand. Nothing of this package stays running; what does is found
// again through DIR/state.json. A manager talks to the API server with a token
// of its ServiceAccount, so that a missing right shows here as in a cluster.
package local
