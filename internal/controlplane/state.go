package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// stateFormat is the version of state.json that this code writes and reads.
const stateFormat = 1

// ErrNoPlane is the cause of Open's error when the directory holds no plane.
var ErrNoPlane = errors.New("no local control plane there")

// ports are the TCP ports on 127.0.0.1 that a plane listens on.
type ports struct {
	Etcd              int `json:"etcd"`
	EtcdPeer          int `json:"etcdPeer"`
	APIServer         int `json:"apiServer"`
	ControllerManager int `json:"controllerManager"`
	Scheduler         int `json:"scheduler"`
}

func (p *ports) all() []*int {
	return []*int{&p.Etcd, &p.EtcdPeer, &p.APIServer, &p.ControllerManager, &p.Scheduler}
}

// record is what outlives the starter of a process.
type record struct {
	PID int `json:"pid"`
	// Birth tells this process from a later one with the same pid.
	Birth     string    `json:"birth"`
	StartedAt time.Time `json:"startedAt"`
}

// state is the content of DIR/state.json.
type state struct {
	Format   int    `json:"format"`
	BinDir   string `json:"binDir"`
	Nodes    int    `json:"nodes"`
	Detached bool   `json:"detached"`
	Ports    ports  `json:"ports"`
	// APIServerArgs are the extra ones, with which it is started again.
	APIServerArgs []string `json:"apiServerArgs,omitempty"`
	// Added are the components that Run started, in order.
	Added     []Component       `json:"added,omitempty"`
	Processes map[string]record `json:"processes"`
}

// readState gives nil without an error where there is none.
func readState(path string) (*state, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the plane's state: %w", err)
	}
	var s state
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("cannot parse %q: %w", path, err)
	}
	if s.Format != stateFormat {
		return nil, fmt.Errorf("cannot use %q: format %d, this program knows %d", path, s.Format, stateFormat)
	}
	if s.Processes == nil {
		s.Processes = map[string]record{}
	}
	return &s, nil
}

// write replaces the file in one step, so that a reader never sees half of it.
func (s *state) write(path string) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode the plane's state: %w", err)
	}
	next := path + ".new"
	if err := os.WriteFile(next, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("cannot write the plane's state: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("cannot replace the plane's state: %w", err)
	}
	return nil
}

// choosePorts keeps the ports of an earlier run that are free, so that
// kubeconfigs stay valid, and finds others for the rest. All are held until
// the last is chosen, so that none is given twice.
func choosePorts(p ports) (ports, error) {
	var held []net.Listener
	defer func() {
		for _, h := range held {
			_ = h.Close()
		}
	}()
	for _, port := range p.all() {
		h, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
		if err != nil {
			h, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			return p, fmt.Errorf("cannot find a free port: %w", err)
		}
		held = append(held, h)
		*port = h.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}
