package rig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/manager"
)

// component is the manager's name in the plane and of its log.
const component = "truss-manager"

// tokenLifetime outlasts a run.
const tokenLifetime = 24 * time.Hour

// ProfileLabel marks the goroutines of a manager in this process, with the
// value "truss", in CPU profiles.
const ProfileLabel = "role"

// inside is a manager in this process.
type inside struct {
	cancel context.CancelFunc
	ended  chan error
}

// addresses are where a manager process listens; the same at each start.
type addresses struct{ health, metrics string }

// StartManager starts the manager and waits until it serves. A process acts by
// the token of its ServiceAccount and without election, as `truss local up`
// starts it.
func (r *Rig) StartManager(ctx context.Context) error {
	if len(r.command) == 0 {
		return r.startInside(ctx)
	}
	if r.addr.health == "" {
		if err := r.prepare(ctx); err != nil {
			return fmt.Errorf("cannot prepare the manager: %w", err)
		}
	}
	return r.Plane.Run(ctx, controlplane.Component{
		Name: component, HealthURL: "http://" + r.addr.health + "/readyz",
		Command: append(append([]string{}, r.command...),
			"--kubeconfig", r.Plane.ConfigPath(component+".kubeconfig"), "--namespace", system, "--leader-elect=false",
			"--health-probe-bind-address", r.addr.health, "--metrics-bind-address", r.addr.metrics),
	})
}

// KillManager ends the manager process by SIGKILL.
func (r *Rig) KillManager() error { return r.Plane.Kill(component) }

func (r *Rig) prepare(ctx context.Context) error {
	token, err := r.Plane.ServiceAccountToken(ctx, system, account, tokenLifetime)
	if err != nil {
		return err
	}
	file := r.Plane.ConfigPath(component + ".token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		return err
	}
	user := &clientcmdapi.AuthInfo{TokenFile: file}
	if err := controlplane.WriteKubeconfig(r.Plane.ConfigPath(component+".kubeconfig"), r.Plane.Server(), r.Plane.CA(), user); err != nil {
		return err
	}
	r.addr, err = freeAddresses()
	return err
}

// freeAddresses holds both ports until the second is chosen.
func freeAddresses() (a addresses, err error) {
	for _, to := range []*string{&a.health, &a.metrics} {
		held, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return a, fmt.Errorf("cannot find a free port: %w", err)
		}
		defer func() { _ = held.Close() }()
		*to = held.Addr().String()
	}
	return a, nil
}

// startInside runs the manager in this process, its goroutines labelled.
func (r *Rig) startInside(ctx context.Context) error {
	cfg, err := r.ManagerConfig(ctx)
	if err != nil {
		return err
	}
	alive, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m := &inside{cancel: cancel, ended: make(chan error, 1)}
	o := manager.Options{
		Config: rest.CopyConfig(cfg), Registry: prometheus.NewRegistry(), Namespace: system,
		MetricsAddress: "0", HealthAddress: "0", Version: "profile",
	}
	go pprof.Do(alive, pprof.Labels(ProfileLabel, "truss"), func(ctx context.Context) { m.ended <- manager.Run(ctx, o) })
	r.inside = m
	select {
	case err := <-m.ended:
		cancel()
		r.inside = nil
		return errors.Join(errors.New("the manager ended at once"), err)
	default:
		return nil
	}
}

func (r *Rig) stopInside() error {
	if r.inside == nil {
		return nil
	}
	r.inside.cancel()
	err := <-r.inside.ended
	r.inside = nil
	return err
}
