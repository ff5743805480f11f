package manager

import (
	"os"
	"testing"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

var plane *controlplane.Plane

func TestMain(m *testing.M) {
	os.Exit(controlplanetest.Main(m, controlplane.Options{}, func(p *controlplane.Plane) { plane = p }))
}
