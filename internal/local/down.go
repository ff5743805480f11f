package local

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/truss-dev/truss/internal/controlplane"
)

func newDown(dir *string) *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use:          "down",
		Short:        "Stop the local control plane",
		Long:         "Stops every process. What was stored stays for the next up, unless --purge is given.",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := resolve(*dir)
			if err != nil {
				return err
			}
			p, err := controlplane.Open(path)
			if errors.Is(err, controlplane.ErrNoPlane) && !purge {
				_, _ = fmt.Fprintln(cmd.ErrOrStderr(), err)
				return nil
			}
			if err != nil {
				return err
			}
			if purge {
				return p.Purge()
			}
			return p.Stop()
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "remove the directory and all that is stored in it")
	return cmd
}
