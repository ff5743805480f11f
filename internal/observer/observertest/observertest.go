package observertest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/observer"
)

// patience bounds how long the end of a test waits for what it has to judge.
const patience = time.Minute

// Start gives a test an observer of its own for a plane: of the users given,
// as the API server names them. It is stopped, and the test fails with every
// violation, at the test's end.
func Start(t testing.TB, plane *controlplane.Plane, users ...string) *observer.Observer {
	t.Helper()
	controlplanetest.Need(t, plane)
	o, err := observer.Start(context.WithoutCancel(t.Context()), observer.Options{
		Config: plane.AdminConfig(), AuditLog: plane.AuditLogPath(), Users: users,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Stop)
	Check(t, o)
	return o
}

// Check makes a test fail at its end with every violation that Truss commits
// from now on: for owners in the namespaces given, or for any when none is.
// Tests that run at the same time name their own. What Truss does outside of
// all namespaces for an owner that nobody knows fails every test.
func Check(t testing.TB, o *observer.Observer, namespaces ...string) {
	t.Helper()
	since := time.Now()
	t.Cleanup(func() {
		t.Helper()
		Settle(t, o)
		for _, v := range o.Violations() {
			elsewhere := len(namespaces) > 0 && v.Namespace != "" &&
				!slices.Contains(namespaces, v.Namespace) && !slices.Contains(namespaces, v.Event.Namespace)
			if !elsewhere && !v.Event.Received.Before(since) {
				t.Error(v)
			}
		}
	})
}

// Settle waits until the observer knows all that happened up to now.
func Settle(t testing.TB, o *observer.Observer) {
	t.Helper()
	// The test's own context has ended when its cleanups run.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := o.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

// Quiet makes a test fail when Truss sends anything but watches and renewals of
// leases within a window from now.
func Quiet(t testing.TB, o *observer.Observer, window time.Duration) {
	t.Helper()
	requests, err := o.Quiet(t.Context(), window)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		t.Errorf("S12 quiet: %s", r)
	}
}
