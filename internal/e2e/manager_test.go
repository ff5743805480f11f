package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/manager"
)

// account is the user name of the manager.
const account = "system:serviceaccount:truss-system:truss-manager"

// process is a manager in this process.
type process struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // after ended
}

// start runs a manager under its own account's token. dies, when it is not
// nil, decides when it is killed.
func start(ctx context.Context, p *controlplane.Plane, o manager.Options, dies *death) (*process, error) {
	cfg, err := p.ServiceAccountConfig(ctx, "truss-system", "truss-manager")
	if err != nil {
		return nil, err
	}
	alive, cancel := context.WithCancel(ctx)
	m := &process{cancel: cancel, ended: make(chan struct{})}
	if dies != nil {
		dies.kill = cancel
		cfg.Wrap(dies.wrap)
	}
	o.Config, o.Registry = cfg, prometheus.NewRegistry()
	o.Namespace, o.MetricsAddress, o.HealthAddress = "truss-system", "0", "0"
	o.Verbose = os.Getenv("TRUSS_E2E_VERBOSE") == "1"
	go func() {
		defer close(m.ended)
		m.err = manager.Run(alive, o)
	}()
	return m, nil
}

// stop ends the manager and waits for its end.
func (m *process) stop() {
	m.cancel()
	<-m.ended
}

// failed is why the manager ended without being told to.
func (m *process) failed() error {
	select {
	case <-m.ended:
		return fmt.Errorf("the manager ended: %w", errors.Join(m.err, context.Canceled))
	default:
		return nil
	}
}

// restart stops the manager of all tests and starts another one, until the
// end of the test, which must not be parallel.
func restart(t *testing.T, o manager.Options) *process {
	t.Helper()
	swap(t, o)
	t.Cleanup(func() { swap(t, manager.Options{}) })
	return running
}

func swap(t *testing.T, o manager.Options) {
	t.Helper()
	running.stop()
	m, err := start(context.Background(), plane, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	running = m
}

// death kills a manager at one of its writes, as a crash would: nothing that
// it asks afterwards gets an answer.
type death struct {
	// writes left until it dies; the last one is sent or not, but its answer
	// is lost in any case.
	writes int64
	sent   bool

	made atomic.Int64
	dead atomic.Bool
	kill context.CancelFunc
}

var errDead = errors.New("this manager is dead")

func (d *death) wrap(next http.RoundTripper) http.RoundTripper {
	return tripper(func(r *http.Request) (*http.Response, error) {
		if d.dead.Load() {
			return nil, errDead
		}
		if !counts(r) || d.made.Add(1) < d.writes {
			return next.RoundTrip(r)
		}
		d.dead.Store(true)
		defer d.kill()
		if d.sent {
			if response, err := next.RoundTrip(r); err == nil {
				_ = response.Body.Close()
			}
		}
		return nil, errDead
	})
}

// counts says whether a request writes something that matters here.
func counts(r *http.Request) bool {
	write := slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, r.Method)
	return write && !strings.Contains(r.URL.Path, "/events") && !strings.Contains(r.URL.Path, "accessreviews")
}

type tripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
