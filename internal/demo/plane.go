package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/truss-dev/truss/deploy"
	examples "github.com/truss-dev/truss/deploy/examples/demo"
	"github.com/truss-dev/truss/internal/controlplane"
)

// The manager's names.
const (
	managerName      = "truss-manager"
	managerNamespace = "truss-system"
)

// tokenLifetime outlasts the demonstration.
const tokenLifetime = time.Hour

// quoted is how many lines of a log are shown.
const quoted = 10

// startPlane starts the control plane. Its processes die with this one, even
// when it is killed.
func (d *demo) startPlane(ctx context.Context) (err error) {
	d.plane, err = controlplane.Start(ctx, controlplane.Options{Dir: d.dir, Nodes: 1, Progress: d.page.pass})
	if err != nil {
		return err
	}
	config := d.plane.AdminConfig()
	if d.objects, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	if d.metadata, err = metadata.NewForConfig(config); err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	return nil
}

// applyKinds brings the kinds of the Bundle, which Truss does not know, and
// their controllers.
//
// Kubernetes' garbage collector looks for new kinds every 30 seconds, and until
// it knows a kind, deletions of its objects that wait for dependants do not
// end. Nobody shall wait for that: a new one looks at once.
func (d *demo) applyKinds(ctx context.Context) error {
	d.page.pass("waiting for the kinds")
	if err := d.plane.Apply(ctx, examples.Kinds(), examples.Controllers(), examples.MetricsReader()); err != nil {
		return err
	}
	return d.plane.Restart(ctx, "kube-controller-manager")
}

// startManager installs Truss and runs its manager as `truss local up` does:
// under the token of its own ServiceAccount.
func (d *demo) startManager(ctx context.Context) error {
	crds, err := deploy.CRDs()
	if err != nil {
		return err
	}
	if err := d.plane.Apply(ctx, append(crds, deploy.LocalManifests())...); err != nil {
		return err
	}
	token, err := d.plane.ServiceAccountToken(ctx, managerNamespace, managerName, tokenLifetime)
	if err != nil {
		return err
	}
	kubeconfig := d.plane.ConfigPath(managerName + ".kubeconfig")
	user := &clientcmdapi.AuthInfo{Token: token}
	if err := controlplane.WriteKubeconfig(kubeconfig, d.plane.Server(), d.plane.CA(), user); err != nil {
		return err
	}
	health, metrics, err := freeAddresses()
	if err != nil {
		return err
	}
	d.metricsURL = "https://" + metrics + "/metrics"
	return d.plane.Run(ctx, controlplane.Component{
		Name: managerName,
		Command: []string{
			d.truss, "manager", "--kubeconfig", kubeconfig, "--namespace", managerNamespace, "--leader-elect=false",
			"--health-probe-bind-address", health, "--metrics-bind-address", metrics,
		},
		HealthURL: "http://" + health + "/readyz",
	})
}

// freeAddresses finds two addresses that nobody listens on.
func freeAddresses() (first, second string, err error) {
	var found [2]string
	for i := range found {
		held, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", fmt.Errorf("cannot find a free port: %w", err)
		}
		defer func() { _ = held.Close() }() // not before both are found
		found[i] = held.Addr().String()
	}
	return found[0], found[1], nil
}

// crashed is an error when a component is gone.
func (d *demo) crashed(ctx context.Context) error {
	for _, s := range d.plane.Status(ctx) {
		if s.State == controlplane.Exited {
			return fmt.Errorf("%s exited (%s)", s.Name, s.Message)
		}
	}
	return nil
}

// lastLines are the last lines of a log; none when it cannot be read.
func lastLines(path string) []string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	return lines[max(len(lines)-quoted, 0):]
}
