package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/truss-dev/truss/internal/controlplane"
)

// Exit codes.
const (
	exitFailed      = 1
	exitInterrupted = 130
)

// patience bounds the whole demonstration, for a machine that is very busy; on
// two idle cores it takes less than half a minute.
const patience = 4 * time.Minute

func main() {
	truss := flag.String("truss", filepath.Join("bin", "truss"), "the truss binary")
	flag.Parse()
	// SIGPIPE ends whoever writes to a closed pipe, unless it is asked for.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	code := run(ctx, *truss, os.Stdout, os.Getenv)
	stop()
	os.Exit(code)
}

// run plays the demonstration and returns the exit code. When it returns, no
// process and no file of it is left.
func run(ctx context.Context, truss string, out io.Writer, getenv func(string) string) int {
	d := &demo{page: newPage(out, getenv), began: time.Now(), told: map[string]string{}}
	err := d.run(ctx, truss)
	if d.page.failed != nil {
		err = d.page.failed
	}
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		d.explain(err)
	}
	if left := d.cleanUp(); left != nil {
		d.page.line("Could not clean up: " + left.Error())
		return exitFailed
	}
	switch {
	case interrupted:
		d.page.line("Interrupted; everything is stopped and removed.")
		return exitInterrupted
	case err != nil:
		return exitFailed
	}
	return 0
}

func (d *demo) run(ctx context.Context, truss string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	truss, err := filepath.Abs(truss)
	if err != nil {
		return fmt.Errorf("cannot find %q: %w", truss, err)
	}
	if _, err := os.Stat(truss); err != nil {
		return fmt.Errorf("cannot find Truss, run `make build`: %w", err)
	}
	d.truss = truss
	if d.dir, err = os.MkdirTemp("", "truss-demo-"); err != nil {
		return fmt.Errorf("cannot make a directory: %w", err)
	}
	return d.play(ctx)
}

// cleanUp stops all processes and removes all files.
func (d *demo) cleanUp() error {
	if d.plane != nil {
		if err := d.plane.Stop(); err != nil {
			return err
		}
	}
	if d.dir == "" {
		return nil
	}
	return os.RemoveAll(d.dir)
}

// explain says what failed and quotes the component to blame: the one that
// exited, else the manager.
func (d *demo) explain(err error) {
	what, _, _ := strings.Cut(err.Error(), "; its last lines:") // they follow
	d.page.blank()
	d.page.failure(what)
	if exit, ok := errors.AsType[*controlplane.ExitError](err); ok {
		d.page.quote("the last lines of "+exit.Component+":", exit.LastLines)
		return
	}
	if d.plane == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, s := range d.plane.Status(ctx) {
		if s.State == controlplane.Exited {
			d.page.quote("the last lines of "+s.Name+":", s.LastLines)
			return
		}
	}
	d.page.quote("the last lines of "+managerName+":", lastLines(d.plane.LogPath(managerName)))
}
