package doctest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/readiness"
)

// patience is how long an API server may take to serve a new kind.
const patience = 30 * time.Second

// A reader is the API server as someone meets it who applies what a page says.
type reader struct {
	client    dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	namespace string
}

// newReader starts a control plane with Truss's kinds, and applies the kinds
// and namespaces of the pages.
func newReader(t *testing.T, all []block) *reader {
	t.Helper()
	plane := controlplanetest.Start(t, controlplane.Options{})
	crds, err := deploy.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	if err := plane.Apply(t.Context(), append(crds, deploy.LocalManifests())...); err != nil {
		t.Fatal(err)
	}
	for _, manifest := range groundwork(t, all) {
		if err := plane.Apply(t.Context(), manifest); err != nil {
			t.Fatal(err)
		}
	}
	discover := discovery.NewDiscoveryClientForConfigOrDie(plane.AdminConfig())
	return &reader{
		client:    dynamic.NewForConfigOrDie(plane.AdminConfig()),
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discover)),
		namespace: controlplanetest.Namespace(t, plane),
	}
}

// groundwork is what the objects of the pages stand on: their kinds and
// namespaces.
func groundwork(t *testing.T, all []block) [][]byte {
	t.Helper()
	var out [][]byte
	seen := map[string]bool{"": true, "truss-system": true}
	for _, b := range all {
		for _, u := range objects(t, b) {
			if u.GetKind() == "CustomResourceDefinition" {
				out = append(out, encode(t, u.Object))
			}
			if ns := u.GetNamespace(); !seen[ns] {
				seen[ns] = true
				out = append(out, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: "+ns+"}}"))
			}
		}
	}
	return out
}

func encode(t *testing.T, object map[string]any) []byte {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// try applies an object in a dry-run that refuses unknown fields. A kind that
// was defined a moment ago is asked for again.
func (r *reader) try(ctx context.Context, u *unstructured.Unstructured) error {
	gvk := u.GroupVersionKind()
	mapping, err := r.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	var to dynamic.ResourceInterface = r.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		ns := u.GetNamespace()
		if ns == "" {
			ns = r.namespace
		}
		to = r.client.Resource(mapping.Resource).Namespace(ns)
	}
	// POST and not apply: only there field validation can be set, and nothing
	// of the pages exists but what groundwork made.
	_, err = to.Create(ctx, u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (r *reader) accepts(t *testing.T, page string, u *unstructured.Unstructured) {
	t.Helper()
	NewWithT(t).Eventually(func() error {
		err := r.try(t.Context(), u)
		if meta.IsNoMatchError(err) {
			r.mapper.Reset()
			return err
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return StopTrying("refused").Wrap(err)
		}
		return err
	}).WithTimeout(patience).Should(Succeed(), "%s: %s %s", page, u.GetKind(), u.GetName())
}

func TestExamplesAreAccepted(t *testing.T) {
	all := blocks(t, "apply")
	r := newReader(t, all)
	for _, b := range all {
		for _, u := range objects(t, b) {
			t.Run(strings.Join([]string{b.page, u.GetKind(), u.GetName()}, " "), func(t *testing.T) {
				r.accepts(t, b.page, u)
				switch u.GetKind() {
				case "Bundle":
					r.acceptsContent(t, b.page, u)
				case "CustomResourceDefinition":
					checkRules(t, u)
				}
			})
		}
	}
}

// acceptsContent compiles a Bundle and asks for its objects: as they are, or
// with the example values of their references, which a page must give.
func (r *reader) acceptsContent(t *testing.T, page string, u *unstructured.Unstructured) {
	t.Helper()
	if u.GetNamespace() == "" {
		u.SetNamespace(r.namespace)
	}
	g, err := bundle.Compile(decodeBundle(t, u))
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Len() {
		node := g.At(i).Payload
		render := node.Example
		if node.Static {
			render = node.Render
		}
		if render == nil {
			continue // references without examples, as authors may write them
		}
		rendered, err := render(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		checkReadyWhen(t, rendered)
		r.accepts(t, page, rendered.Object.DeepCopy())
	}
}

func decodeBundle(t *testing.T, u *unstructured.Unstructured) *v1.Bundle {
	t.Helper()
	b := &v1.Bundle{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, b, true); err != nil {
		t.Fatal(err)
	}
	return b
}

// checkReadyWhen lets the object's own rule be judged: it may be false, but
// not wrong.
func checkReadyWhen(t *testing.T, r resource.Rendered) {
	t.Helper()
	if result := readiness.NewEvaluator().Evaluate(r.Object, &readiness.Rules{}, readiness.Related{}); result.Broken {
		t.Errorf("%s %s: %s", r.Object.GetKind(), r.Object.GetName(), result.Message)
	}
}

// checkRules reads the readiness rules of a CRD.
func checkRules(t *testing.T, crd *unstructured.Unstructured) {
	t.Helper()
	rules, err := readiness.RulesFromCRD(crd, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := rules.Err(); err != nil {
		t.Error(err)
	}
}

func TestExpressionsAreValid(t *testing.T) {
	for _, b := range blocks(t, "cel") {
		for line := range strings.Lines(b.text) {
			object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			object.SetAnnotations(map[string]string{resource.ReadyWhenAnnotation: strings.TrimSpace(line)})
			checkReadyWhen(t, resource.Rendered{Object: object})
		}
	}
}

func TestOverlaysAreBuilt(t *testing.T) {
	for _, b := range blocks(t, "kustomize") {
		dir := t.TempDir()
		repository, err := filepath.Abs(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(repository, filepath.Join(dir, "truss")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
		if err != nil {
			t.Errorf("%s: %v in\n%s", b.page, err, b.text)
			continue
		}
		if built.Size() < 10 {
			t.Errorf("%s: only %d objects came of\n%s", b.page, built.Size(), b.text)
		}
	}
}
