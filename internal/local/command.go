package local

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// Option adds to what `truss local up` brings up.
type Option func(*settings)

// settings are what the program decides and the person does not.
type settings struct {
	manifests []func() ([][]byte, error)
	managers  []Manager
}

// WithManifests lets up apply manifests, each a stream of YAML documents,
// before it starts the managers. Several are applied in the order given.
func WithManifests(manifests func() ([][]byte, error)) Option {
	return func(s *settings) { s.manifests = append(s.manifests, manifests) }
}

// WithManager lets up start a manager. Several are started in the order given.
func WithManager(m Manager) Option {
	return func(s *settings) { s.managers = append(s.managers, m) }
}

// NewCommand makes the command `local` with the subcommands up, status and
// down. Each writes its result to the command's output and everything else to
// its error output, and fails, so that the program's exit code is not 0, when
// not everything is as it should be.
func NewCommand(options ...Option) *cobra.Command {
	var s settings
	for _, o := range options {
		o(&s)
	}
	cmd := &cobra.Command{
		Use:   "local",
		Short: "Run Kubernetes and Truss on this machine, without containers",
		Long: "Runs a real API server, scheduler and controller manager on 127.0.0.1, with\n" +
			"simulated nodes on which pods run only in appearance, and Truss itself.",
		Args: cobra.NoArgs,
	}
	dir := cmd.PersistentFlags().String("dir", "", "directory of the control plane (default ~/.truss/local)")
	cmd.AddCommand(newUp(s, dir), newStatus(dir), newDown(dir))
	return cmd
}

// resolve gives the directory that the flag says or, when it is empty, the
// default one.
func resolve(dir string) (string, error) {
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("cannot find the home directory, say --dir: %w", err)
		}
		return filepath.Join(home, ".truss", "local"), nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot resolve directory %q: %w", dir, err)
	}
	return abs, nil
}
