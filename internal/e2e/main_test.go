package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/manager"
)

// plane is the control plane of all tests of this package; nil when it was
// not built.
var plane *controlplane.Plane

func TestMain(m *testing.M) {
	os.Exit(controlplanetest.Main(m, controlplane.Options{Nodes: 1}, func(p *controlplane.Plane) {
		plane = p
		if p == nil {
			return
		}
		if err := install(context.Background(), p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if _, err := startManager(context.Background(), p, manager.Options{}); err != nil {
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
	return p.Apply(ctx, append(crds, deploy.LocalManifests())...)
}

// startManager runs a manager in this process under its own account's token
// until stop is called, which waits for its end.
func startManager(ctx context.Context, p *controlplane.Plane, o manager.Options) (stop func(), err error) {
	cfg, err := p.ServiceAccountConfig(ctx, "truss-system", "truss-manager")
	if err != nil {
		return nil, err
	}
	o.Config, o.Registry = cfg, prometheus.NewRegistry()
	o.Namespace, o.MetricsAddress, o.HealthAddress = "truss-system", "0", "0"
	o.Verbose = os.Getenv("TRUSS_E2E_VERBOSE") == "1"
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Run(running, o) }()
	select {
	case err := <-ended:
		cancel()
		return nil, fmt.Errorf("the manager did not start: %w", err)
	case <-time.After(300 * time.Millisecond): // nothing depends on it having started
	}
	return func() {
		cancel()
		<-ended
	}, nil
}
