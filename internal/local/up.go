package local

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/truss-dev/truss/internal/controlplane"
)

// upFlags are what a person asks up for.
type upFlags struct {
	dir       string
	nodes     int
	noManager bool
}

func newUp(s settings, dir *string) *cobra.Command {
	flags := upFlags{nodes: 1}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the local control plane in the background",
		Long: "Starts what does not run yet and leaves alone what does: running it again starts\n" +
			"what crashed. The only line on standard output is for the shell:\n\n" +
			"  eval \"$(truss local up)\"",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if flags.dir, err = resolve(*dir); err != nil {
				return err
			}
			return up(cmd.Context(), s, flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().IntVar(&flags.nodes, "nodes", flags.nodes, "number of simulated nodes")
	cmd.Flags().BoolVar(&flags.noManager, "no-manager", false, "do not start Truss itself")
	return cmd
}

// up brings everything up and prints how to reach it.
func up(ctx context.Context, s settings, flags upFlags, stdout, stderr io.Writer) error {
	if flags.nodes < 0 {
		return fmt.Errorf("cannot have %d nodes", flags.nodes)
	}
	manifests, err := s.collect()
	if err != nil {
		return err
	}
	running := allHealthy(ctx, flags.dir)
	p, err := controlplane.Start(ctx, controlplane.Options{
		Dir: flags.dir, Nodes: flags.nodes, Detached: true,
		Progress: func(line string) {
			if !running {
				_, _ = fmt.Fprintln(stderr, line)
			}
		},
	})
	if err != nil {
		return err
	}
	if err := p.Apply(ctx, manifests...); err != nil {
		return err
	}
	if !flags.noManager {
		for _, m := range s.managers {
			if err := m.run(ctx, p); err != nil {
				return err
			}
		}
	}
	if running {
		_, _ = fmt.Fprintf(stderr, "the local control plane in %s is running already\n", flags.dir)
	}
	_, err = fmt.Fprintln(stdout, "export KUBECONFIG="+quote(p.KubeconfigPath()))
	return err
}

func (s settings) collect() ([][]byte, error) {
	var all [][]byte
	for _, manifests := range s.manifests {
		some, err := manifests()
		if err != nil {
			return nil, fmt.Errorf("cannot get the manifests to apply: %w", err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// allHealthy says whether there is a plane in dir that needs nothing.
func allHealthy(ctx context.Context, dir string) bool {
	p, err := controlplane.Open(dir)
	return err == nil && len(down(p.Status(ctx))) == 0
}

// plain are the strings that every shell takes literally.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./+@%:,-]+$`)

// quote makes a word of s for the shell.
func quote(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
