// Package version tells which Truss this is. It is the end of no data flow:
// the command line prints it and clients put it in their user agent.
package version

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// stamped is set by the linker: -X .../internal/version.stamped=v1.2.3.
var stamped string

// String returns the version that was stamped in, else the module's own as
// `go install` knows it, else "dev".
func String() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// NewCommand returns `truss version`.
func NewCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch output {
			case "":
				_, err := fmt.Fprintln(c.OutOrStdout(), "truss", String())
				return err
			case "json":
				return json.NewEncoder(c.OutOrStdout()).Encode(map[string]string{
					"version": String(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			return fmt.Errorf("cannot print as %q: -o takes json", output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "output format: json")
	return c
}
