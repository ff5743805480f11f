package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/internal/controlplane"
)

// Where the Bundle of deploy/examples/demo is.
const (
	namespace  = "default"
	bundleName = "shop"
)

var bundleResource = v1.BundleGVR

// demo is one run of the demonstration.
type demo struct {
	page  *page
	began time.Time
	truss string // the binary
	dir   string // all files

	plane      *controlplane.Plane // nil unless it was started
	objects    dynamic.Interface
	metadata   metadata.Interface
	metricsURL string

	before  stock // what is in the namespace before the Bundle
	journal *journal
	told    map[string]string // the last line of each resource
	size    int               // of the Bundle
	took    struct{ up, change, down time.Duration }
}

// play plays the acts one after the other.
func (d *demo) play(ctx context.Context) error {
	d.page.title("Truss: a graph of Kubernetes objects goes up, changes and goes down")
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, act := range []struct {
		title string
		play  func(context.Context) error
	}{
		{"A control plane", d.prepare},
		{"The Bundle goes up", d.up},
		{"What an operator sees", d.measure},
		{"A password is rotated", d.rotate},
		{"The Bundle goes down", d.down},
	} {
		if d.page.failed != nil {
			return d.page.failed // nobody reads on
		}
		if err := act.play(ctx); err != nil {
			return fmt.Errorf("act %d, %q: %w", d.page.acts, act.title, err)
		}
	}
	d.summary()
	return nil
}

// prepare brings up a cluster with Truss in it.
func (d *demo) prepare(ctx context.Context) error {
	d.page.act("A control plane",
		"Real Kubernetes on this machine, in a directory that is removed at the end. Only nodes and pods",
		"are simulated, and the controllers of three kinds that Truss has never heard of (KWOK).")
	var rows [][]string
	for _, step := range []struct {
		what  string
		start func(context.Context) error
	}{
		{"etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok", d.startPlane},
		{"Network, ResourceClaim, ResourceBinding and their controllers", d.applyKinds},
		{"truss-manager, with the rights of its own ServiceAccount", d.startManager},
	} {
		began := time.Now()
		if err := step.start(ctx); err != nil {
			return err
		}
		rows = append(rows, []string{step.what, seconds(time.Since(began))})
	}
	d.page.table(rows...)
	return nil
}

// summary ends the demonstration.
func (d *demo) summary() {
	p := d.page
	p.heading("Summary ")
	p.blank()
	p.table(
		[]string{"up", seconds(d.took.up), fmt.Sprintf("%d objects, each created when all that it refers to was ready", d.size)},
		[]string{"change", seconds(d.took.change), "1 of them written again, because what it refers to changed"},
		[]string{"down", seconds(d.took.down), fmt.Sprintf("%d objects, each deleted when all that refer to it were gone; nothing is left", d.size)},
	)
	p.blank()
	p.line("All checks passed in " + seconds(time.Since(d.began)) + ". To try it by hand: deploy/examples/demo/README.md")
	p.blank()
}

// until calls check ten times a second until it is nil. It ends with its last
// error when ctx ends, or when a component crashes.
func (d *demo) until(ctx context.Context, check func(context.Context) error) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if n%10 == 0 {
			if crash := d.crashed(ctx); crash != nil {
				return crash
			}
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// within bounds an act, so that one which hangs is told from a slow machine.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 90*time.Second)
}

// resourceOf guesses the resource of a kind; those of the demonstration have
// regular plurals.
func resourceOf(kind schema.GroupVersionKind) schema.GroupVersionResource {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural
}
