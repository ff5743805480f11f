package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/internal/cli/trace"
)

// down deletes the Bundle and watches its objects go.
func (d *demo) down(ctx context.Context) error {
	d.page.act("The Bundle goes down",
		"The same graph backwards: an object is deleted when all that refer to it are really gone. The",
		"claim's controller holds its claim for a second, to drop the database; the network waits.")
	d.page.command("kubectl delete bundle " + bundleName)
	ctx, cancel := within(ctx)
	defer cancel()
	nodes, err := d.nodes()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := d.objects.Resource(bundleResource).Namespace(namespace).Delete(ctx, bundleName, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("cannot delete the Bundle: %w", err)
	}
	if err := d.showDepartures(ctx, nodes, began); err != nil {
		return err
	}
	if err := d.until(ctx, d.bundleGone); err != nil {
		return err
	}
	d.took.down = time.Since(began)
	if err := backwards(nodes, d.journal.departures()); err != nil {
		return err
	}
	return d.nothingLeft(ctx)
}

// nodes are the Bundle's resources.
func (d *demo) nodes() ([]trace.Node, error) {
	t, err := d.journal.look()
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, fmt.Errorf("the Bundle %q is gone", bundleName)
	}
	return t.Nodes, nil
}

// showDepartures prints a line for each object that goes, until all are gone.
func (d *demo) showDepartures(ctx context.Context, nodes []trace.Node, began time.Time) error {
	widths := columns(&trace.Trace{Nodes: nodes})
	widths = []int{widths[0], widths[1], widths[3]}
	d.page.row(widths, []string{"gone", "RESOURCE", "OBJECT", "WENT AFTER"})
	shown := 0
	for {
		gone := d.journal.departures()
		for ; shown < len(gone); shown++ {
			n := nodeOf(nodes, gone[shown])
			if n == nil {
				return fmt.Errorf("%s %q was deleted, which is no part of the Bundle", gone[shown].kind.Kind, gone[shown].name)
			}
			d.page.row(widths, []string{since(gone[shown].at.Sub(began)), n.Name, n.Object.String(), strings.Join(dependants(nodes, n.Name), ", ")})
		}
		if shown == len(nodes) {
			return nil
		}
		if d.page.failed != nil {
			return d.page.failed
		}
		if err := d.wait(ctx); err != nil {
			return fmt.Errorf("%d of %d objects are gone: %w", shown, len(nodes), err)
		}
	}
}

func nodeOf(nodes []trace.Node, gone departure) *trace.Node {
	i := slices.IndexFunc(nodes, func(n trace.Node) bool {
		return n.Object.Group == gone.kind.Group && n.Object.Kind == gone.kind.Kind && n.Object.Name == gone.name
	})
	if i < 0 {
		return nil
	}
	return &nodes[i]
}

// dependants are the resources that need the named one.
func dependants(nodes []trace.Node, name string) []string {
	var out []string
	for i := range nodes {
		if slices.ContainsFunc(nodes[i].Needs, func(n trace.Need) bool { return n.Name == name }) {
			out = append(out, nodes[i].Name)
		}
	}
	return out
}

// backwards checks that each object went after all that refer to it.
func backwards(nodes []trace.Node, gone []departure) error {
	place := map[string]int{}
	for i, g := range gone {
		if n := nodeOf(nodes, g); n != nil {
			place[n.Name] = i
		}
	}
	for i := range nodes {
		for _, dependant := range dependants(nodes, nodes[i].Name) {
			if place[nodes[i].Name] < place[dependant] {
				return fmt.Errorf("%s was deleted before %s, which refers to it", nodes[i].Name, dependant)
			}
		}
	}
	return nil
}

func (d *demo) bundleGone(ctx context.Context) error {
	_, err := d.getBundle(ctx, bundleName)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the Bundle is still there, though all its objects are gone")
}

// stock is what a namespace holds, as "resource/name".
type stock map[string]bool

// takeStock lists all that the Bundle could leave behind.
func (d *demo) takeStock(ctx context.Context) (stock, error) {
	found := stock{}
	for _, r := range []schema.GroupVersionResource{
		bundleResource, claims, bindings, deployments, jobs, configMaps, secrets,
		{Group: "demo.truss.dev", Version: "v1", Resource: "networks"},
		{Version: "v1", Resource: "services"},
		{Version: "v1", Resource: "pods"},
		{Group: "apps", Version: "v1", Resource: "replicasets"},
		{Group: "apps", Version: "v1", Resource: "controllerrevisions"},
	} {
		list, err := d.metadata.Resource(r).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", r.Resource, err)
		}
		for i := range list.Items {
			found[r.Resource+"/"+list.Items[i].Name] = true
		}
	}
	return found, nil
}

// nothingLeft waits until the namespace is as it was before the Bundle: pods
// and Secrets are removed by others than Truss, a moment later.
func (d *demo) nothingLeft(ctx context.Context) error {
	d.page.pass("waiting for pods and Secrets")
	err := d.until(ctx, func(ctx context.Context) error {
		now, err := d.takeStock(ctx)
		if err != nil {
			return err
		}
		if left := more(now, d.before); len(left) > 0 {
			return fmt.Errorf("the Bundle leaves behind %s", strings.Join(left, ", "))
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.page.blank()
	d.page.line("Nothing is left: no object, no pod, no Secret, no record of Truss's own.")
	return nil
}

// more lists what is in now and was not before, sorted.
func more(now, before stock) []string {
	var out []string
	for name := range now {
		if !before[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
