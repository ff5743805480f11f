package controlplane

import (
	"context"
	"fmt"
	"os"
	"slices"

	"k8s.io/client-go/kubernetes"
)

// Run adds a component to the plane, or replaces the one with its name, and
// waits until it is healthy. One that already runs as described is only waited
// for. Components added by Run are stopped first and are never started by
// Start: call Run again.
func (p *Plane) Run(ctx context.Context, c Component) error {
	release, err := lockFile(p.layout.lock())
	if err != nil {
		return err
	}
	defer release()
	if err := p.add(c); err != nil {
		return err
	}
	if err := p.launch(c); err != nil {
		return err
	}
	return p.healthy(ctx, c)
}

// add records c. A process of another description under its name is stopped.
func (p *Plane) add(c Component) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.components, func(o Component) bool { return o.Name == c.Name }) {
		return fmt.Errorf("cannot add component %q: the plane has one of its own", c.Name)
	}
	i := slices.IndexFunc(p.state.Added, func(o Component) bool { return o.Name == c.Name })
	if i < 0 {
		p.state.Added = append(p.state.Added, c)
		return nil
	}
	old := p.state.Added[i]
	p.state.Added[i] = c
	if process := p.processes[c.Name]; process != nil && !old.same(c) {
		return process.stop(stopGrace)
	}
	return nil
}

// healthy waits until c answers that it is.
func (p *Plane) healthy(ctx context.Context, c Component) error {
	p.options.progress("waiting for " + c.Name)
	return until(ctx, c.Name, p.exitOf(c.Name), func(ctx context.Context) error { return p.prober.check(ctx, c) })
}

// Kill ends a component at once, as a crash would. It is not started again.
func (p *Plane) Kill(component string) error {
	if _, err := p.find(component); err != nil {
		return err
	}
	if process := p.process(component); process != nil {
		return process.stop(0)
	}
	return nil
}

// Signal sends a signal to a component that runs: SIGSTOP makes it hang, as an
// overloaded machine would, until SIGCONT.
func (p *Plane) Signal(component string, s os.Signal) error {
	process := p.process(component)
	if process == nil || !process.alive() {
		return fmt.Errorf("cannot signal component %q: it does not run", component)
	}
	found, err := os.FindProcess(process.PID)
	if err != nil {
		return fmt.Errorf("cannot find component %q: %w", component, err)
	}
	if err := found.Signal(s); err != nil {
		return fmt.Errorf("cannot signal component %q: %w", component, err)
	}
	return nil
}

// Restart ends a component when it runs, starts it and waits until it is
// healthy.
func (p *Plane) Restart(ctx context.Context, component string) error {
	c, err := p.find(component)
	if err != nil {
		return err
	}
	if process := p.process(component); process != nil {
		if err := process.stop(stopGrace); err != nil {
			return err
		}
	}
	if c.Name == kwok {
		client, err := kubernetes.NewForConfig(p.AdminConfig())
		if err != nil {
			return fmt.Errorf("cannot make a client: %w", err)
		}
		return p.launchKWOK(ctx, client)
	}
	if err := p.launch(c); err != nil {
		return err
	}
	return p.healthy(ctx, c)
}
