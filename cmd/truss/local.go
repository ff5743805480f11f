package main

import (
	"github.com/spf13/cobra"

	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/local"
)

// localCommand brings up a control plane with Truss as `kubectl apply -k
// deploy/default` would, but for three things: one manager without leader
// election, any kind in a Bundle, and logs in a directory.
func localCommand() *cobra.Command {
	return local.NewCommand(
		local.WithManifests(deploy.CRDs),
		local.WithManifests(func() ([][]byte, error) { return [][]byte{deploy.LocalManifests()}, nil }),
		local.WithManager(local.Manager{
			Name: "truss-manager", Namespace: "truss-system", ServiceAccount: "truss-manager",
			Args: func(l local.Launch) []string {
				return []string{
					"manager", "--kubeconfig", l.Kubeconfig, "--namespace", "truss-system", "--leader-elect=false",
					"--health-probe-bind-address", l.HealthAddress, "--metrics-bind-address", l.MetricsAddress,
				}
			},
		}),
	)
}
