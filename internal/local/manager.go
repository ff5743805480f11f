package local

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/truss-dev/truss/internal/controlplane"
)

// tokenLifetime is how long a manager may run before `truss local up` must be
// called again, which renews its token without restarting it.
const tokenLifetime = 365 * 24 * time.Hour

// Manager describes a process of Truss that up starts.
type Manager struct {
	// Name is the component's name in status and the name of its log.
	Name string
	// Namespace and ServiceAccount say as whom it runs. The manifests make
	// them.
	Namespace, ServiceAccount string
	// Program is started; empty means the running program.
	Program string
	// Args are the program's arguments.
	Args func(Launch) []string
}

// Launch is what a manager is told about the plane it runs in. It is the same
// in each start, as long as the ports are free.
type Launch struct {
	// Kubeconfig is the path of the manager's own kubeconfig.
	Kubeconfig string
	// HealthAddress is the host:port on which it must answer
	// http://HOST:PORT/readyz with 200 when it is ready.
	HealthAddress string
	// MetricsAddress is a host:port that it may serve anything else on.
	MetricsAddress string
}

// run starts the manager unless it runs, with a fresh token, and waits until
// it is ready.
func (m Manager) run(ctx context.Context, p *controlplane.Plane) error {
	launch, err := m.prepare(ctx, p)
	if err != nil {
		return fmt.Errorf("cannot prepare %s: %w", m.Name, err)
	}
	program := m.Program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return fmt.Errorf("cannot find the program to start as %s: %w", m.Name, err)
		}
	}
	return p.Run(ctx, controlplane.Component{
		Name:      m.Name,
		Command:   append([]string{program}, m.Args(launch)...),
		HealthURL: "http://" + launch.HealthAddress + "/readyz",
	})
}

// prepare writes the manager's token and kubeconfig. The kubeconfig names the
// token's file, which a client reads again every minute: so an old process
// gets the new token too.
func (m Manager) prepare(ctx context.Context, p *controlplane.Plane) (Launch, error) {
	token, err := p.ServiceAccountToken(ctx, m.Namespace, m.ServiceAccount, tokenLifetime)
	if err != nil {
		return Launch{}, err
	}
	tokenFile := p.ConfigPath(m.Name + ".token")
	if err := replace(tokenFile, []byte(token)); err != nil {
		return Launch{}, err
	}
	kubeconfig := p.ConfigPath(m.Name + ".kubeconfig")
	user := &clientcmdapi.AuthInfo{TokenFile: tokenFile}
	if err := controlplane.WriteKubeconfig(kubeconfig, p.Server(), p.CA(), user); err != nil {
		return Launch{}, err
	}
	ports, err := m.ports(ctx, p)
	if err != nil {
		return Launch{}, err
	}
	return Launch{Kubeconfig: kubeconfig, HealthAddress: ports[0], MetricsAddress: ports[1]}, nil
}

// ports gives the two addresses that the manager listens on: those it has
// while it runs or had when it ran, if they are free, else others.
func (m Manager) ports(ctx context.Context, p *controlplane.Plane) ([2]string, error) {
	path := p.ConfigPath(m.Name + ".ports.json")
	var known [2]string
	if raw, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(raw, &known); err != nil {
			return known, fmt.Errorf("cannot parse %q: %w", path, err)
		}
	}
	if runs(ctx, p, m.Name) {
		return known, nil
	}
	chosen, err := choose(known)
	if err != nil {
		return chosen, err
	}
	raw, err := json.Marshal(chosen)
	if err != nil {
		return chosen, fmt.Errorf("cannot encode the ports of %s: %w", m.Name, err)
	}
	return chosen, replace(path, raw)
}

func runs(ctx context.Context, p *controlplane.Plane, component string) bool {
	for _, s := range p.Status(ctx) {
		if s.Name == component {
			return s.PID != 0
		}
	}
	return false
}

// choose keeps the addresses that are free and finds others for the rest. Both
// are held until the second is chosen.
func choose(wanted [2]string) (addresses [2]string, err error) {
	for i, address := range wanted {
		held, err := net.Listen("tcp", address)
		if err != nil || address == "" {
			if held != nil {
				_ = held.Close()
			}
			held, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			return wanted, fmt.Errorf("cannot find a free port: %w", err)
		}
		defer func() { _ = held.Close() }()
		addresses[i] = held.Addr().String()
	}
	return addresses, nil
}

// replace writes a file that its owner alone may read, in one step.
func replace(path string, content []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return fmt.Errorf("cannot write %q: %w", path, err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("cannot replace %q: %w", path, err)
	}
	return nil
}
