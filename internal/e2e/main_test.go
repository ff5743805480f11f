package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/manager"
	"github.com/truss-dev/truss/internal/observer"
)

// plane is the control plane of all tests of this package; nil when it was
// not built.
var plane *controlplane.Plane

// running is the manager that serves the tests. Only tests that are not
// parallel replace it.
var running *process

// parallel tests run at the same time, whatever the number of processors: most
// of them wait for a retry of the manager.
const parallel = "12"

// outsider checks the invariants in every test.
var outsider *observer.Observer

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	options := controlplane.Options{Nodes: 1, AuditPolicy: observer.AuditPolicy(account)}
	os.Exit(controlplanetest.Main(m, options, func(p *controlplane.Plane) {
		plane = p
		if p == nil {
			return
		}
		ctx := context.Background()
		for _, step := range []func(context.Context, *controlplane.Plane) error{install, observe, begin} {
			if err := step(ctx, p); err != nil {
				fmt.Fprintln(os.Stderr, err)
				_ = p.Stop()
				os.Exit(1)
			}
		}
	}))
}

func observe(ctx context.Context, p *controlplane.Plane) (err error) {
	outsider, err = observer.Start(ctx, observer.Options{
		Config: p.AdminConfig(), AuditLog: p.AuditLogPath(), Users: []string{account},
	})
	return err
}

// install puts the CRDs and the manager's rights into the plane.
func install(ctx context.Context, p *controlplane.Plane) error {
	crds, err := deploy.CRDs()
	if err != nil {
		return err
	}
	examples, err := os.ReadFile(exampleDir + "crds.yaml")
	if err != nil {
		return err
	}
	return p.Apply(ctx, append(crds, deploy.LocalManifests(), examples, []byte(kinds))...)
}

func begin(ctx context.Context, p *controlplane.Plane) (err error) {
	running, err = start(ctx, p, manager.Options{}, nil)
	return err
}
