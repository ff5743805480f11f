package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/internal/cli/trace"
)

// rotationPatch asks the claim's controller, which is not Truss, for another
// password.
const rotationPatch = `{"metadata":{"annotations":{"demo.truss.dev/rotation":"2"}}}`

// scene is what the rotation may change.
type scene struct {
	web, job *unstructured.Unstructured
	writes   map[string]float64 // of Truss, by "kind operation"
}

// rotate lets the outside controller of the claim make another Secret, and
// watches the change find its way.
func (d *demo) rotate(ctx context.Context) error {
	d.page.act("A password is rotated",
		"The claim's own controller makes a new password, in a Secret with another name (the name is a hash",
		"of the contents). Truss is not told; it sees that what the claim puts out has another name.")
	d.page.command("kubectl annotate resourceclaims.demo.truss.dev shop-db demo.truss.dev/rotation=2")
	ctx, cancel := within(ctx)
	defer cancel()
	before, err := d.look(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	_, err = d.objects.Resource(claims).Namespace(namespace).
		Patch(ctx, "shop-db", types.MergePatchType, []byte(rotationPatch), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("cannot annotate the claim: %w", err)
	}
	done := func(t *trace.Trace) bool {
		return t.Verdict() == trace.Succeeded && d.rolledOut(ctx, mounted(before.web))
	}
	if err := d.watch(ctx, began, done); err != nil {
		return err
	}
	d.took.change = time.Since(began)
	return d.compare(ctx, before)
}

// rolledOut tells whether all pods of the Deployment mount another Secret than
// the old one. That the Bundle was not Ready meanwhile proves nothing: a status
// may skip what was over soon.
func (d *demo) rolledOut(ctx context.Context, old string) bool {
	web, err := d.get(ctx, deployments, "shop")
	if err != nil {
		return false // asked again
	}
	count := func(path ...string) int64 {
		n, _, err := unstructured.NestedInt64(web.Object, path...)
		if err != nil {
			return -1
		}
		return n
	}
	wanted := count("spec", "replicas")
	return mounted(web) != old && count("status", "observedGeneration") == web.GetGeneration() &&
		count("status", "updatedReplicas") == wanted && count("status", "replicas") == wanted &&
		count("status", "availableReplicas") == wanted
}

func (d *demo) look(ctx context.Context) (s scene, err error) {
	if s.web, err = d.get(ctx, deployments, "shop"); err != nil {
		return s, err
	}
	if s.job, err = d.get(ctx, jobs, "shop-smoke-test"); err != nil {
		return s, err
	}
	found, err := d.metrics(ctx)
	if err != nil {
		return s, err
	}
	s.writes = map[string]float64{}
	for _, m := range found["truss_applies_total"].GetMetric() {
		s.writes[labelOf(m, "kind")+" "+labelOf(m, "operation")] += m.GetCounter().GetValue()
	}
	return s, nil
}

// compare shows what changed and checks that nothing else did.
func (d *demo) compare(ctx context.Context, before scene) error {
	after, err := d.look(ctx)
	if err != nil {
		return err
	}
	old, current := mounted(before.web), mounted(after.web)
	if err := unchanged(before, after); err != nil {
		return err
	}
	d.page.pass("waiting for the controller of the claim to delete the Secret before")
	if err := d.until(ctx, func(ctx context.Context) error { return d.secretGone(ctx, old) }); err != nil {
		return err
	}
	to := d.page.sign("→", "->")
	d.page.blank()
	d.page.table(
		[]string{"Secret", fmt.Sprintf("%s %s %s", old, to, current), "the old one was deleted by its own controller"},
		[]string{"Deployment", fmt.Sprintf("generation %d %s %d", before.web.GetGeneration(), to, after.web.GetGeneration()), "rendered again with the new name, rolled out"},
		[]string{"Job", "unchanged", "it ran once, and does not run again"},
		[]string{"Truss wrote", written(before, after), "nothing else"},
	)
	return nil
}

// unchanged says what was replaced or written though nothing that it refers to
// changed.
func unchanged(before, after scene) error {
	if before.web.GetUID() != after.web.GetUID() {
		return fmt.Errorf("the Deployment was replaced by another")
	}
	if before.job.GetUID() != after.job.GetUID() || before.job.GetGeneration() != after.job.GetGeneration() {
		return fmt.Errorf("the Job was replaced or changed")
	}
	for what, count := range after.writes {
		if count > before.writes[what] && !strings.HasPrefix(what, "Deployment.apps ") {
			return fmt.Errorf("an object was written that did not change: %s", what)
		}
	}
	return nil
}

// written counts the write requests between two scenes.
func written(before, after scene) string {
	requests := 0.0
	for what, count := range after.writes {
		requests += count - before.writes[what]
	}
	return fmt.Sprintf("the Deployment, in %.0f requests", requests)
}

func (d *demo) secretGone(ctx context.Context, name string) error {
	_, err := d.metadata.Resource(secrets).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look for Secret %q: %w", name, err)
	}
	return fmt.Errorf("the Secret %q is still there", name)
}
