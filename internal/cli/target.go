package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/internal/cli/reader"
)

// A Process is what a command needs of the process it runs in.
type Process struct {
	// Getenv reads the environment.
	Getenv func(name string) string
	// Exit ends the process; it is called with codes that are not 0 or 1 only.
	Exit func(code int)
}

// Limits of shell completion, which must not keep anybody waiting.
const (
	completionTimeout = "2s"
	completionNames   = 500
)

// kindWords are the ways to write the kind, as kubectl takes them.
func kindWords() []string {
	words := []string{"bundle", "bundles", "bdl"}
	for _, w := range words[:2] {
		words = append(words, w+"."+v1.Group, w+"."+v1.Version+"."+v1.Group)
	}
	return words
}

// parseTarget reads bundle/NAME or bundle NAME and returns the name.
func parseTarget(args []string) (string, error) {
	kind, name := "", ""
	switch len(args) {
	case 0:
		return "", errors.New("you must say which Bundle: bundle/NAME")
	case 1:
		var ok bool
		kind, name, ok = strings.Cut(args[0], "/")
		if !ok {
			return "", fmt.Errorf("you must say kind and name: bundle/%s", args[0])
		}
	default:
		kind, name = args[0], args[1]
	}
	if !slices.Contains(kindWords(), strings.ToLower(kind)) {
		return "", fmt.Errorf("cannot show resource type %q: it must be bundle", kind)
	}
	if name == "" || strings.Contains(name, "/") {
		return "", fmt.Errorf("cannot show %q: it must be bundle/NAME, with one slash and a name", strings.Join(args, " "))
	}
	return name, nil
}

// complete offers the names of Bundles for the shell.
func complete(flags *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		prefix := ""
		switch {
		case len(args) > 1 || len(args) == 1 && !slices.Contains(kindWords(), args[0]):
			return nil, cobra.ShellCompDirectiveNoFileComp
		case len(args) == 0 && !strings.Contains(typed, "/"):
			return []cobra.Completion{"bundle/"}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		case len(args) == 0:
			kind, _, _ := strings.Cut(typed, "/")
			prefix = kind + "/"
		}
		timeout := completionTimeout
		flags.Timeout = &timeout
		cluster, err := reader.Connect(flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := cluster.Names(c.Context(), completionNames)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var out []cobra.Completion
		for _, name := range names {
			if strings.HasPrefix(prefix+name, typed) {
				out = append(out, prefix+name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// newFlags returns kubectl's flags.
func newFlags(c *cobra.Command) *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(true)
	flags.AddFlags(c.Flags())
	return flags
}

// now is the time that ages are counted from.
func now() time.Time { return time.Now() }
