package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// startTimeout bounds Start when its context does not. Start takes about 4 s
// on two idle cores; a loaded machine may take ten times as long.
const startTimeout = 3 * time.Minute

// Plane is a control plane that was started, by this program or another. Its
// methods may be called concurrently.
type Plane struct {
	options    Options
	layout     layout
	pki        *pki
	admin      keyPair
	prober     *prober
	components []Component // the plane's own, in the order of their start

	mu        sync.Mutex
	state     *state
	processes map[string]*process
}

// Start starts a control plane and returns when it is of use: the API server
// is ready, the nodes are Ready and the namespace `default` has its service
// account. In a directory whose plane runs it starts what is missing. When it
// fails, what it started is stopped again; the error of a component that
// exited is an *ExitError.
func Start(ctx context.Context, o Options) (*Plane, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	l := layout{o.Dir}
	if err := l.create(); err != nil {
		return nil, err
	}
	release, err := lockFile(l.lock())
	if err != nil {
		return nil, err
	}
	defer release()
	p, err := prepare(l, o)
	if err != nil {
		return nil, fmt.Errorf("cannot prepare a control plane in %q: %w", o.Dir, err)
	}
	before := p.running()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.start(ctx); err != nil {
		left := p.stopAll(func(name string) bool { return !before[name] }, 0)
		return nil, errors.Join(fmt.Errorf("cannot start a control plane in %q: %w", o.Dir, err), left)
	}
	return p, nil
}

// Open gives the plane that was started in dir before, whether it runs or not.
// Without one the error wraps ErrNoPlane.
func Open(dir string) (*Plane, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve directory %q: %w", dir, err)
	}
	l := layout{dir}
	s, err := readState(l.state())
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("%w: %q has no state.json", ErrNoPlane, dir)
	}
	if err := l.create(); err != nil { // a purge may have been cut short
		return nil, err
	}
	keys, err := createPKI(l)
	if err != nil {
		return nil, err
	}
	o := Options{Dir: dir, BinDir: s.BinDir, Nodes: s.Nodes, Detached: s.Detached, ExtraAPIServerArgs: s.APIServerArgs}
	return assemble(l, o, s, keys)
}

// prepare brings the directory into the state from which processes start.
func prepare(l layout, o Options) (*Plane, error) {
	s, err := readState(l.state())
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = &state{Format: stateFormat, Processes: map[string]record{}}
	}
	s.BinDir, s.Nodes, s.Detached, s.APIServerArgs = o.BinDir, o.Nodes, o.Detached, o.ExtraAPIServerArgs
	if !anyAlive(s.Processes) {
		if s.Ports, err = choosePorts(s.Ports); err != nil {
			return nil, err
		}
	}
	keys, err := createPKI(l)
	if err != nil {
		return nil, err
	}
	if err := writeKubeconfigs(l, keys, loopback(s.Ports.APIServer)); err != nil {
		return nil, err
	}
	if err := os.WriteFile(l.config("audit-policy.yaml"), o.AuditPolicy, 0o600); err != nil {
		return nil, fmt.Errorf("cannot write the audit policy: %w", err)
	}
	if err := os.WriteFile(l.config("kwok.yaml"), []byte(kwokConfig), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write KWOK's configuration: %w", err)
	}
	return assemble(l, o, s, keys)
}

func assemble(l layout, o Options, s *state, keys *pki) (*Plane, error) {
	admin, err := keys.api.issue(identities(l)[l.admin()])
	if err != nil {
		return nil, err
	}
	prober, err := newProber(l, keys)
	if err != nil {
		return nil, err
	}
	p := &Plane{
		options: o, layout: l, pki: keys, admin: admin, prober: prober,
		components: own(l, o, s.Ports), state: s, processes: map[string]*process{},
	}
	for name, r := range s.Processes {
		p.processes[name] = &process{record: r}
	}
	return p, nil
}

func anyAlive(records map[string]record) bool {
	for _, r := range records {
		if (&process{record: r}).alive() {
			return true
		}
	}
	return false
}

// all lists the plane's own components and the added ones. The lock is held.
func (p *Plane) all() []Component {
	return append(slices.Clone(p.components), p.state.Added...)
}

func (p *Plane) find(name string) (Component, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all()
	i := slices.IndexFunc(all, func(c Component) bool { return c.Name == name })
	if i < 0 {
		return Component{}, fmt.Errorf("cannot find component %q in the plane", name)
	}
	return all[i], nil
}

func (p *Plane) process(name string) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.processes[name]
}

func (p *Plane) running() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	running := map[string]bool{}
	for name, process := range p.processes {
		running[name] = process.alive()
	}
	return running
}

// launch starts the process of c unless it runs, and records it.
func (p *Plane) launch(c Component) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.processes[c.Name]; old != nil && old.alive() {
		return nil
	}
	process, err := spawn(c, p.layout.log(c.Name), p.options.Detached)
	if err != nil {
		return err
	}
	p.processes[c.Name] = process
	p.state.Processes[c.Name] = process.record
	return p.state.write(p.layout.state())
}
