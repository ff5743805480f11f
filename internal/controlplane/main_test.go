package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// starterEnv makes the test binary a program that starts a plane in the
// directory named, says so and waits to be told to end. With detachEnv it
// starts a detached plane and ends by itself.
const (
	starterEnv = "TRUSS_TEST_STARTER"
	detachEnv  = "TRUSS_TEST_DETACH"
)

// plane is shared by the tests that do it no harm.
var plane *controlplane.Plane

func TestMain(m *testing.M) {
	if dir := os.Getenv(starterEnv); dir != "" {
		os.Exit(starter(dir, os.Getenv(detachEnv) != ""))
	}
	os.Exit(controlplanetest.Main(m, controlplane.Options{Nodes: 1}, func(p *controlplane.Plane) { plane = p }))
}

func starter(dir string, detached bool) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := controlplane.Start(ctx, controlplane.Options{Dir: dir, Detached: detached}); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("started")
	if !detached {
		<-ctx.Done()
	}
	return 0
}
