package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// fieldManager is the name under which the plane writes objects.
const fieldManager = "truss-local"

// kindPatience is how long a manifest may wait for the kind that an earlier
// one defines.
const kindPatience = 20 * time.Second

// definitionResource is where CRDs live.
var definitionResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// applier writes manifests with server-side apply.
type applier struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func newApplier(c *rest.Config) (*applier, error) {
	client, err := dynamic.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("cannot make a discovery client: %w", err)
	}
	return &applier{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d))}, nil
}

// Apply writes the objects of the manifests, each a stream of YAML documents,
// in their order and as the plane's administrator. An object whose kind is not
// served yet is tried again until a definition written before it is in effect.
// It returns when every kind that they define is served. Applying the same
// again changes nothing.
func (p *Plane) Apply(ctx context.Context, manifests ...[]byte) error {
	a, err := newApplier(p.AdminConfig())
	if err != nil {
		return err
	}
	return a.apply(ctx, manifests...)
}

func (a *applier) apply(ctx context.Context, manifests ...[]byte) error {
	var definitions []string
	for _, manifest := range manifests {
		objects, err := decode(manifest)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := a.one(ctx, object); err != nil {
				return fmt.Errorf("cannot apply %s %q: %w", object.GetKind(), object.GetName(), err)
			}
			definitions = appendDefinition(definitions, object)
		}
	}
	for _, name := range definitions {
		if err := a.established(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func appendDefinition(names []string, object *unstructured.Unstructured) []string {
	if object.GetKind() != "CustomResourceDefinition" {
		return names
	}
	return append(names, object.GetName())
}

// established waits until the kind that a CRD defines is served.
func (a *applier) established(ctx context.Context, name string) error {
	patience, cancel := context.WithTimeout(ctx, kindPatience)
	defer cancel()
	never := func() error { return nil }
	return until(patience, "the kind of "+name, never, func(ctx context.Context) error {
		crd, err := a.client.Resource(definitionResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
		if err != nil {
			return err
		}
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("%s is not established", name)
	})
}

// one retries while the kind is unknown: to the mapper, or (just after its
// definition was written) to the server, whose 404 is then not about the
// object, since an apply would create that.
func (a *applier) one(ctx context.Context, object *unstructured.Unstructured) error {
	patience, cancel := context.WithTimeout(ctx, kindPatience)
	defer cancel()
	var refused error
	err := until(patience, "its kind", func() error { return refused }, func(ctx context.Context) error {
		err := a.try(ctx, object)
		switch {
		case meta.IsNoMatchError(err):
			a.mapper.Reset()
		case err != nil && !apierrors.IsNotFound(err):
			refused = err
		}
		return err
	})
	return err
}

func (a *applier) try(ctx context.Context, object *unstructured.Unstructured) error {
	gvk := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	var to dynamic.ResourceInterface = a.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		to = a.client.Resource(mapping.Resource).Namespace(namespaceOf(object))
	}
	_, err = to.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}

func namespaceOf(object *unstructured.Unstructured) string {
	if ns := object.GetNamespace(); ns != "" {
		return ns
	}
	return metav1.NamespaceDefault
}

// decode splits a stream of YAML documents into objects; empty ones are left
// out.
func decode(manifest []byte) ([]*unstructured.Unstructured, error) {
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot parse manifest %d: %w", len(objects)+1, err)
		}
		if len(object.Object) == 0 {
			continue
		}
		if object.GetKind() == "" || object.GetName() == "" {
			return nil, fmt.Errorf("cannot use manifest %d: it has no kind or no name", len(objects)+1)
		}
		objects = append(objects, object)
	}
}
