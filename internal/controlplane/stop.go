package controlplane

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// stopGrace is how long a component may take to end by itself.
const stopGrace = 10 * time.Second

// Stop ends every process of the plane, the added components first and etcd
// last: asked to at first, killed after 10 seconds. A plane that is not
// detached is one test's, nothing of which is needed again: it is killed at
// once. The directory stays. It leaves no process behind, or says which.
func (p *Plane) Stop() error {
	release, err := lockFile(p.layout.lock())
	if err != nil {
		return err
	}
	defer release()
	grace := time.Duration(0)
	if p.options.Detached {
		grace = stopGrace
	}
	return p.stopAll(func(string) bool { return true }, grace)
}

// Purge stops the plane and removes its files, and the directory unless
// something else is in it.
func (p *Plane) Purge() error {
	if err := p.Stop(); err != nil {
		return err
	}
	for _, path := range p.layout.everything() {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("cannot remove the plane's files: %w", err)
		}
	}
	if err := os.Remove(p.layout.dir); err != nil {
		return fmt.Errorf("cannot remove the plane's directory, all else is gone: %w", err)
	}
	return nil
}

// stopAll ends the chosen processes: those that use the API server together,
// then it, then etcd.
func (p *Plane) stopAll(chosen func(name string) bool, grace time.Duration) error {
	var failed []error
	for _, wave := range p.waves() {
		var wg sync.WaitGroup
		errs := make([]error, len(wave))
		for i, name := range wave {
			if process := p.process(name); process != nil && chosen(name) {
				wg.Go(func() { errs[i] = process.stop(grace) })
			}
		}
		wg.Wait()
		failed = append(failed, errs...)
	}
	return errors.Join(append(failed, p.forget())...)
}

// forget drops the records of what was stopped, so that nobody takes it for
// crashed; what Run added is no part of the plane any more.
func (p *Plane) forget() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, process := range p.processes {
		if !process.alive() {
			delete(p.processes, name)
			delete(p.state.Processes, name)
		}
	}
	p.state.Added = slices.DeleteFunc(p.state.Added, func(c Component) bool { return p.processes[c.Name] == nil })
	return p.state.write(p.layout.state())
}

// waves are the names of all processes in the order of their end, those of a
// wave sorted.
func (p *Plane) waves() [][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var clients, added []string
	for _, name := range slices.Sorted(maps.Keys(p.processes)) {
		isOwn := slices.ContainsFunc(p.components, func(c Component) bool { return c.Name == name })
		switch {
		case !isOwn:
			added = append(added, name)
		case name != etcd && name != apiServer:
			clients = append(clients, name)
		}
	}
	return [][]string{added, clients, {apiServer}, {etcd}}
}
