package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/manager"
)

// The test binary plays bin/truss: as `manager` it is the manager.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "manager" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := manage(ctx, os.Args[2:])
		stop()
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func manage(ctx context.Context, args []string) error {
	o := manager.Options{Version: "test"}
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	return manager.Run(ctx, o)
}

func environment(name string) string { return map[string]string{"LANG": "C.UTF-8"}[name] }

// temporary makes a directory for temporary files, and checks in the end that
// no file and no process of the demonstration is left.
func temporary(t *testing.T) {
	t.Helper()
	if _, err := controlplane.FindBinaries(); err != nil {
		controlplanetest.Need(t, nil)
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("files are left behind: %v, %v", left, err)
		}
		if running := processesOf(t, dir); len(running) > 0 {
			t.Errorf("processes are left behind: %q", running)
		}
	})
}

// processesOf lists the command lines that name a directory.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(dir)) {
			found = append(found, string(line))
		}
	}
	return found
}

func TestDemoShowsABundleGoUpAndDown(t *testing.T) {
	temporary(t)
	g := NewWithT(t)
	var out strings.Builder
	g.Expect(run(t.Context(), os.Args[0], &out, environment)).To(Equal(0), "\n%s", &out)
	acts := regexp.MustCompile(`(?m)^\d\. .*$`).Split(out.String(), -1)
	g.Expect(acts).To(HaveLen(6), "five acts after the title\n%s", &out)

	ready := names(acts[2], `Ready`)
	g.Expect(ready).To(ConsistOf("front", "network", "settings", "db", "web", "smoke-test"))
	inOrder(t, "became Ready", ready, "network", "db", "web", "smoke-test")
	inOrder(t, "became Ready", ready, "network", "settings", "web")
	inOrder(t, "became Ready", ready, "front", "web")
	g.Expect(acts[2]).To(MatchRegexp(`settings +hello from 10\.42\.0\.0/24, MTU 1450`), "!{} references")
	g.Expect(acts[2]).To(MatchRegexp(`web's volume +shop-db-[0-9a-f]{8}\n`), "the output's name")

	g.Expect(acts[3]).To(ContainSubstring("401 Unauthorized"))
	g.Expect(acts[3]).To(MatchRegexp(`truss_graph_nodes +\S.* Ready 6\n`))
	g.Expect(acts[3]).To(MatchRegexp(`truss_applies_total +\S.* create 6\n`), "one request for each object")

	for _, name := range names(acts[4], `Ready`) {
		g.Expect(name).To(BeElementOf("db", "web"), "nothing else left and regained Ready")
	}
	g.Expect(acts[4]).To(MatchRegexp(`Secret +(shop-db-\S+) → shop-db-`))
	g.Expect(acts[4]).To(ContainSubstring("generation 1 → 2"))

	gone := names(acts[5], `\S+/\S+`)
	g.Expect(gone).To(HaveLen(6))
	inOrder(t, "went", gone, "smoke-test", "web", "db", "network")
	inOrder(t, "went", gone, "web", "settings", "network")
	inOrder(t, "went", gone, "web", "front")
	g.Expect(acts[5]).To(ContainSubstring("Nothing is left"))
	g.Expect(acts[5]).To(ContainSubstring("All checks passed"))
	g.Expect(out.String()).NotTo(ContainSubstring("\x1b"), "no control sequences in a pipe")
}

// names are the resources of the lines whose next column matches.
func names(act, column string) []string {
	var found []string
	for _, line := range regexp.MustCompile(`(?m)^ +\+[0-9.]+s  (\S+) +`+column+`( |$)`).FindAllStringSubmatch(act, -1) {
		found = append(found, line[1])
	}
	return found
}

func inOrder(t *testing.T, what string, all []string, wanted ...string) {
	t.Helper()
	last := -1
	for _, name := range wanted {
		i := slices.Index(all, name)
		if i <= last {
			t.Errorf("%s in the order %q, and not %q", what, all, wanted)
		}
		last = i
	}
}

func TestDemoNamesTheComponentThatFailed(t *testing.T) {
	temporary(t)
	g := NewWithT(t)
	broken := filepath.Join(t.TempDir(), "truss")
	g.Expect(os.WriteFile(broken, []byte("#!/bin/sh\necho out of order\nexit 3\n"), 0o700)).To(Succeed())
	var out strings.Builder
	g.Expect(run(t.Context(), broken, &out, environment)).To(Equal(exitFailed))
	g.Expect(out.String()).To(MatchRegexp(`The demonstration failed: act 1, .*truss-manager exited \(exit status 3\)`))
	g.Expect(out.String()).To(HaveSuffix("   the last lines of truss-manager:\n     out of order\n\n"))
}

// interrupter cancels when it is told to write a certain text.
type interrupter struct {
	text   strings.Builder
	at     string
	cancel context.CancelFunc
}

func (i *interrupter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(i.at)) {
		i.cancel()
	}
	return i.text.Write(p)
}

func TestDemoCleansUpWhenItIsInterrupted(t *testing.T) {
	temporary(t)
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	out := &interrupter{at: "bundle.yaml", cancel: cancel}
	g.Expect(run(ctx, os.Args[0], out, environment)).To(Equal(exitInterrupted))
	g.Expect(out.text.String()).To(ContainSubstring("2. The Bundle goes up"))
	g.Expect(out.text.String()).To(HaveSuffix("   Interrupted; everything is stopped and removed.\n"))
	g.Expect(out.text.String()).NotTo(ContainSubstring("failed"))
}

func TestDemoSaysThatTrussIsNotBuilt(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	g.Expect(run(t.Context(), filepath.Join(t.TempDir(), "truss"), &out, environment)).To(Equal(exitFailed))
	g.Expect(out.String()).To(ContainSubstring("run `make build`"))
}
