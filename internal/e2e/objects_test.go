package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// exampleDir holds the YAML that the documentation shows and the tests apply.
const exampleDir = "../../deploy/examples/smith/"

// Resources that the tests look at.
var (
	bundles    = v1Resource("smith.atlassian.com", "bundles")
	configMaps = v1Resource("", "configmaps")
	secrets    = v1Resource("", "secrets")
	services   = v1Resource("", "services")
	accounts   = v1Resource("", "serviceaccounts")
	quotas     = v1Resource("", "resourcequotas")
	namespaces = v1Resource("", "namespaces")

	deployments = v1Resource("apps", "deployments")
	revisions   = v1Resource("apps", "controllerrevisions")
	crds        = v1Resource("apiextensions.k8s.io", "customresourcedefinitions")
	roles       = v1Resource("rbac.authorization.k8s.io", "roles")

	formations = v1Resource("smith.atlassian.com", "cloudformations")
	claims     = v1Resource("smith.atlassian.com", "resourceclaims")
	bound      = v1Resource("smith.atlassian.com", "resourcebindings")
	sleepers   = v1Resource("e2e.truss.dev", "sleepers")
)

func v1Resource(group, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
}

// kinds are the custom kinds of the tests: Sleeper is Smith's own sample (S95).
var kinds = crd("e2e.truss.dev", "Sleeper", `
    smith.atlassian.com/SupportEnabled: "true"
    smith.atlassian.com/CrReadyWhenFieldPath: "{$.status.state}"
    smith.atlassian.com/CrReadyWhenFieldValue: Awake!`)

// crd is a CRD that takes any spec and status, with a status subresource.
func crd(group, kind, annotations string) string {
	single := strings.ToLower(kind)
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[1]ss.%[2]s
  annotations: {%[4]s
  }
spec:
  group: %[2]s
  scope: Namespaced
  names: {kind: %[3]s, listKind: %[3]sList, plural: %[1]ss, singular: %[1]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, single, group, kind, flow(annotations))
}

// flow turns a block of "key: value" lines into the inside of a flow map.
func flow(lines string) string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, "\n    "+line)
		}
	}
	return strings.Join(out, ",")
}

// apply applies YAML documents by server-side apply, in the test's namespace
// where their kind has one, and returns the last.
func (w *world) apply(text string) *unstructured.Unstructured {
	w.t.Helper()
	u, err := w.tryApply(text)
	w.Expect(err).NotTo(HaveOccurred())
	return u
}

func (w *world) tryApply(text string) (last *unstructured.Unstructured, err error) {
	for _, document := range documents(text) {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &u.Object); err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, document)
		}
		resource, namespaced, err := w.resourceOf(u)
		if err != nil {
			return nil, err
		}
		to := w.client.Resource(resource).Namespace("")
		if namespaced {
			u.SetNamespace(w.ns)
			to = w.of(resource)
		}
		if last, err = to.Apply(w.t.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "e2e", Force: true}); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// documents splits a stream of YAML documents.
func documents(text string) []string {
	var out []string
	for d := range strings.SplitSeq("\n"+text, "\n---\n") {
		if strings.TrimSpace(d) != "" {
			out = append(out, d)
		}
	}
	return out
}

// resourceOf asks the API server where a kind lives.
func (w *world) resourceOf(u *unstructured.Unstructured) (schema.GroupVersionResource, bool, error) {
	gvk := u.GroupVersionKind()
	list, err := w.core.Discovery().ServerResourcesForGroupVersion(gvk.GroupVersion().String())
	if err != nil {
		return schema.GroupVersionResource{}, false, err
	}
	for _, r := range list.APIResources {
		if r.Kind == gvk.Kind && !strings.Contains(r.Name, "/") {
			return gvk.GroupVersion().WithResource(r.Name), r.Namespaced, nil
		}
	}
	return schema.GroupVersionResource{}, false, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}

// patch merges JSON into an object, as a person would with kubectl.
func (w *world) patch(r schema.GroupVersionResource, name, patch string, subresources ...string) {
	w.t.Helper()
	_, err := w.of(r).Patch(w.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "person"}, subresources...)
	w.Expect(err).NotTo(HaveOccurred())
}

// setStatus sets the status of a custom resource, as its controller would.
func (w *world) setStatus(r schema.GroupVersionResource, name, status string) {
	w.t.Helper()
	w.patch(r, name, `{"status":`+status+`}`, "status")
}

// install applies a CRD of the test's own, waits until it is served, and
// deletes it at the test's end.
func (w *world) install(text string) {
	w.t.Helper()
	u := w.apply(text)
	w.t.Cleanup(func() { w.uninstall(u.GetName()) })
	w.Eventually(func() error {
		probe := &unstructured.Unstructured{}
		group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
		probe.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind})
		_, _, err := w.resourceOf(probe)
		return err
	}).Should(Succeed())
}

func (w *world) uninstall(name string) {
	_ = w.client.Resource(crds).Delete(context.Background(), name, metav1.DeleteOptions{})
}

// example reads a file of the examples.
func example(name string) (string, error) {
	text, err := os.ReadFile(exampleDir + name)
	if err != nil {
		return "", errors.Join(errors.New("the documentation's example is missing"), err)
	}
	return string(text), nil
}

// patchCluster merges JSON into a CRD.
func (w *world) patchCluster(name, patch string) {
	w.t.Helper()
	_, err := w.client.Resource(crds).Patch(w.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "person"})
	w.Expect(err).NotTo(HaveOccurred())
}
