package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/truss-dev/truss/internal/controlplane"
)

// report is what `truss local status -o json` prints.
type report struct {
	Dir        string                `json:"dir"`
	Kubeconfig string                `json:"kubeconfig"`
	Components []controlplane.Status `json:"components"`
}

func newStatus(dir *string) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how each component of the local control plane is doing",
		Long:  "Prints a line per component, and the last lines of the log of one that crashed.\nFails when a component is not healthy.",
		Args:  cobra.NoArgs,
		// A plane that is down is no misuse of the command.
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return fmt.Errorf("cannot print as %q: the formats are json and none", output)
			}
			path, err := resolve(*dir)
			if err != nil {
				return err
			}
			p, err := controlplane.Open(path)
			if err != nil {
				return err
			}
			statuses := p.Status(cmd.Context())
			if output == "json" {
				err = writeJSON(cmd.OutOrStdout(), report{path, p.KubeconfigPath(), statuses})
			} else {
				err = writeTable(cmd.OutOrStdout(), statuses, time.Now())
			}
			return errors.Join(err, verdict(statuses))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json")
	return cmd
}

// down names the components that are not healthy.
func down(statuses []controlplane.Status) []string {
	var names []string
	for _, s := range statuses {
		if s.State != controlplane.Healthy {
			names = append(names, s.Name)
		}
	}
	return names
}

// verdict is an error when a component is down.
func verdict(statuses []controlplane.Status) error {
	names := down(statuses)
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d components down: %s", len(names), len(statuses), strings.Join(names, ", "))
}

func writeJSON(w io.Writer, r report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// writeTable prints a line per component, and below it what is wrong with it.
func writeTable(w io.Writer, statuses []controlplane.Status, now time.Time) error {
	var table strings.Builder
	tabs := tabwriter.NewWriter(&table, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(tabs, "NAME\tSTATE\tPID\tUPTIME\tLOG")
	for _, s := range statuses {
		pid, uptime := "-", "-"
		if s.PID != 0 {
			pid, uptime = strconv.Itoa(s.PID), duration.HumanDuration(now.Sub(s.StartedAt))
		}
		_, _ = fmt.Fprintf(tabs, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.State, pid, uptime, s.LogPath)
	}
	if err := tabs.Flush(); err != nil {
		return fmt.Errorf("cannot format the table: %w", err)
	}
	for _, s := range statuses {
		writeTrouble(&table, s)
	}
	_, err := io.WriteString(w, table.String())
	return err
}

func writeTrouble(w *strings.Builder, s controlplane.Status) {
	switch s.State {
	case controlplane.Healthy, controlplane.Stopped:
	case controlplane.Unhealthy:
		fmt.Fprintf(w, "\n%s does not work: %s\n", s.Name, s.Message)
	case controlplane.Exited:
		reason := ""
		if s.Message != "" {
			reason = " (" + s.Message + ")"
		}
		fmt.Fprintf(w, "\n%s exited%s; its last lines:\n", s.Name, reason)
		for _, line := range s.LastLines {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
}
