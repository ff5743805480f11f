package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	examples "github.com/truss-dev/truss/deploy/examples/demo"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// The resources that the acts look at.
var (
	claims      = schema.GroupVersionResource{Group: "demo.truss.dev", Version: "v1", Resource: "resourceclaims"}
	bindings    = schema.GroupVersionResource{Group: "demo.truss.dev", Version: "v1", Resource: "resourcebindings"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

// up creates the Bundle and watches it become Ready.
func (d *demo) up(ctx context.Context) error {
	d.page.act("The Bundle goes up",
		"Six resources that refer to each other; nobody wrote down an order. Each is created when all that",
		"it refers to is ready. The network is ready when its own status says so, the database when its",
		"controller has made a ResourceBinding and a Secret, the Deployment when it is available.")
	d.page.command("kubectl apply -f deploy/examples/demo/bundle.yaml")
	ctx, cancel := within(ctx)
	defer cancel()
	var err error
	if d.before, err = d.takeStock(ctx); err != nil {
		return err
	}
	b := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(examples.Bundle(), &b.Object); err != nil {
		return fmt.Errorf("cannot read bundle.yaml: %w", err)
	}
	began := time.Now()
	if _, err := d.objects.Resource(bundleResource).Namespace(namespace).Create(ctx, b, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("cannot create the Bundle: %w", err)
	}
	// The journal outlives this act.
	if d.journal, err = d.follow(context.WithoutCancel(ctx), bundleName); err != nil {
		return err
	}
	ready := func(t *trace.Trace) bool { d.size = t.Total; return t.Verdict() == trace.Succeeded }
	if err := d.watch(ctx, began, ready); err != nil {
		return err
	}
	d.took.up = time.Since(began)
	return d.showValues(ctx)
}

// showValues shows what went from ready objects into others.
func (d *demo) showValues(ctx context.Context) error {
	settings, err := d.get(ctx, configMaps, "shop")
	if err != nil {
		return err
	}
	web, err := d.get(ctx, deployments, "shop")
	if err != nil {
		return err
	}
	to := d.page.sign("→", "->")
	d.page.blank()
	d.page.line("What was read along the way:")
	d.page.blank()
	d.page.table(
		[]string{"network's status", to, "settings", textAt(settings, "data", "GREETING")},
		[]string{"db's output Secret", to, "web's volume", mounted(web)},
		[]string{"front's targetPort", to, "web's containerPort", listenPort(web) + " (a number)"},
	)
	return nil
}

func (d *demo) get(ctx context.Context, r schema.GroupVersionResource, name string) (*unstructured.Unstructured, error) {
	object, err := d.objects.Resource(r).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot get %s %q: %w", r.Resource, name, err)
	}
	return object, nil
}

// textAt is the string at a path; empty when there is none.
func textAt(object *unstructured.Unstructured, path ...string) string {
	text, _, err := unstructured.NestedString(object.Object, path...)
	if err != nil {
		return ""
	}
	return text
}

// firstOf is the first item of a list; empty when there is none.
func firstOf(object *unstructured.Unstructured, path ...string) *unstructured.Unstructured {
	items, _, err := unstructured.NestedSlice(object.Object, path...)
	if err != nil || len(items) == 0 {
		return &unstructured.Unstructured{}
	}
	item, _ := items[0].(map[string]any)
	return &unstructured.Unstructured{Object: item}
}

// mounted is the name of the Secret that a Deployment mounts.
func mounted(deployment *unstructured.Unstructured) string {
	return textAt(firstOf(deployment, "spec", "template", "spec", "volumes"), "secret", "secretName")
}

// listenPort is the port that a Deployment's container listens on.
func listenPort(deployment *unstructured.Unstructured) string {
	container := firstOf(deployment, "spec", "template", "spec", "containers")
	port, _, err := unstructured.NestedInt64(firstOf(container, "ports").Object, "containerPort")
	if err != nil {
		return ""
	}
	return fmt.Sprint(port)
}
