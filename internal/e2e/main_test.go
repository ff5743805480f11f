package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/manager"
)

// plane is the control plane of all tests of this package; nil when it was
// not built.
var plane *controlplane.Plane

// running is the manager that serves the tests. Only tests that are not
// parallel replace it.
var running *process

func TestMain(m *testing.M) {
	os.Exit(controlplanetest.Main(m, controlplane.Options{Nodes: 1}, func(p *controlplane.Plane) {
		plane = p
		if p == nil {
			return
		}
		if err := errors.Join(install(context.Background(), p), begin(p)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}))
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

func begin(p *controlplane.Plane) (err error) {
	running, err = start(context.Background(), p, manager.Options{}, nil)
	return err
}
