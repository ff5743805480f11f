package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
)

// layout names every file below a plane's directory, so that a path is spelt
// in one place.
type layout struct{ dir string }

func (l layout) pki(name string) string    { return filepath.Join(l.dir, "pki", name) }
func (l layout) config(name string) string { return filepath.Join(l.dir, "etc", name) }
func (l layout) logs() string              { return filepath.Join(l.dir, "logs") }
func (l layout) log(name string) string    { return filepath.Join(l.logs(), name+".log") }
func (l layout) auditLog() string          { return filepath.Join(l.logs(), "audit.log") }
func (l layout) etcdData() string          { return filepath.Join(l.dir, "etcd") }
func (l layout) stages() string            { return filepath.Join(l.dir, "stages") }
func (l layout) state() string             { return filepath.Join(l.dir, "state.json") }
func (l layout) lock() string              { return filepath.Join(l.dir, "lock") }
func (l layout) admin() string             { return filepath.Join(l.dir, "kubeconfig") }

// kubeconfig is where the credentials of one component lie.
func (l layout) kubeconfig(component string) string {
	return l.config(component + ".kubeconfig")
}

// everything lists what a plane leaves in its directory. The state comes last:
// while it is there, the rest can be found and removed.
func (l layout) everything() []string {
	return []string{l.pki(""), l.config(""), l.logs(), l.etcdData(), l.stages(), l.admin(), l.lock(), l.state()}
}

// ConfigPath is where a component of the given plane may keep a file of its
// own: DIR/etc/NAME. Purge removes it.
func (p *Plane) ConfigPath(name string) string { return p.layout.config(name) }

// create makes the directories. All are closed to other users of the machine:
// they hold keys, Secrets (etcd) and request logs.
func (l layout) create() error {
	for _, d := range []string{l.dir, l.pki(""), l.config(""), l.logs(), l.etcdData(), l.stages()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("cannot create directory %q: %w", d, err)
		}
	}
	return nil
}
