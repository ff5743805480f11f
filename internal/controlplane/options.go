package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// BinariesEnv names the environment variable that says where the binaries of
// the control plane are, when they are not in bin/local of the repository.
const BinariesEnv = "TRUSS_LOCAL_BIN"

// ErrNoBinaries is the cause of the error of Start and FindBinaries when the
// control plane was not built.
var ErrNoBinaries = errors.New("the local control plane is not built: run `make local`")

// Options says which control plane Start starts.
type Options struct {
	// Dir is where everything the plane writes goes. Required. It is created
	// when it is missing and continued when it was used before.
	Dir string
	// BinDir holds the binaries. Empty means FindBinaries.
	BinDir string
	// Nodes is the number of simulated nodes, named node-0 and so on. With
	// none, pods stay pending.
	Nodes int
	// Detached processes survive the process that starts them. Others die
	// with it, at once on Linux even when it is killed.
	Detached bool
	// AuditPolicy is an audit.k8s.io/v1 Policy in YAML. Empty means
	// DefaultAuditPolicy.
	AuditPolicy []byte
	// ExtraAPIServerArgs come after the plane's own, and so win over them.
	ExtraAPIServerArgs []string
	// Progress is told what is being waited for, one short line at a time.
	// May be nil.
	Progress func(line string)
}

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("cannot start a control plane: no directory given")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("cannot resolve directory %q: %w", o.Dir, err)
	}
	o.Dir = dir
	if o.BinDir == "" {
		if o.BinDir, err = FindBinaries(); err != nil {
			return o, err
		}
	}
	if len(o.AuditPolicy) == 0 {
		o.AuditPolicy = DefaultAuditPolicy()
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o, checkBinaries(o.BinDir)
}

// FindBinaries gives the directory of the control plane's binaries: what
// TRUSS_LOCAL_BIN says, else bin/local of the Truss module the working
// directory lies in, else the directory `local` beside the running program.
// When none of them is complete the error wraps ErrNoBinaries.
func FindBinaries() (string, error) {
	if dir := os.Getenv(BinariesEnv); dir != "" {
		return dir, checkBinaries(dir)
	}
	var candidates []string
	if wd, err := os.Getwd(); err == nil {
		if root := moduleRoot(wd); root != "" {
			candidates = append(candidates, filepath.Join(root, "bin", "local"))
		}
	}
	if exe, err := os.Executable(); err == nil {
		candidates = append(candidates, filepath.Join(filepath.Dir(exe), "local"))
	}
	for _, dir := range candidates {
		if checkBinaries(dir) == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%w (or set %s; looked in %s)", ErrNoBinaries, BinariesEnv, strings.Join(candidates, ", "))
}

// checkBinaries says which file is missing in dir.
func checkBinaries(dir string) error {
	for _, name := range []string{etcd, apiServer, controllerManager, scheduler, kwok, stageCRDFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("%w (%q is missing in %q)", ErrNoBinaries, name, dir)
		}
	}
	return nil
}

// moduleRoot is the nearest directory at or above dir that holds the go.mod of
// Truss itself, or "" when there is none: leaf modules in between are passed.
func moduleRoot(dir string) string {
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module github.com/truss-dev/truss\n") {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
