// Command truss is the bundle orchestrator: the manager that runs in a
// cluster, and the command line that people use with it.
//
// This package is wiring only: each subcommand lives in a package of its own.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/truss-dev/truss/internal/cli"
	"github.com/truss-dev/truss/internal/manager"
	"github.com/truss-dev/truss/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := root().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "truss:", err)
		os.Exit(1)
	}
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:           "truss",
		Short:         "Bundles of Kubernetes objects, created in dependency order and deleted in reverse",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	c.AddCommand(managerCommand(), localCommand(), version.NewCommand())
	c.AddCommand(cli.NewTrace(cli.Process{Getenv: os.Getenv, Exit: os.Exit}), cli.NewGraph())
	return c
}

func managerCommand() *cobra.Command {
	o := manager.Options{Version: version.String()}
	c := &cobra.Command{
		Use:   "manager",
		Short: "Run the controllers",
		Long:  "Run the controllers against an API server until stopped. In a cluster this is the command of the Deployment.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return manager.Run(c.Context(), o) },
	}
	o.AddFlags(c.Flags())
	return c
}
