package e2e

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

var bundles = schema.GroupVersionResource{Group: "smith.atlassian.com", Version: "v1", Resource: "bundles"}
var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func client(t *testing.T) dynamic.Interface {
	t.Helper()
	controlplanetest.Need(t, plane)
	c, err := dynamic.NewForConfig(plane.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func apply(t *testing.T, r schema.GroupVersionResource, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetNamespace(namespace)
	out, err := client(t).Resource(r).Namespace(namespace).Apply(t.Context(), u.GetName(), u, metav1.ApplyOptions{FieldManager: "e2e", Force: true})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func status(t *testing.T, namespace, name string) func() string {
	return func() string {
		b, err := client(t).Resource(bundles).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		text, _ := yaml.Marshal(b.Object["status"])
		return string(text)
	}
}

func TestBundleBecomesReadyInOrderAndGoesInReverse(t *testing.T) {
	g := NewWithT(t)
	ns := controlplanetest.Namespace(t, plane)
	apply(t, bundles, ns, `
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: shop}
spec:
  resources:
  - name: web
    references:
    - {name: color, resource: settings, path: data.color}
    spec:
      object:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: web}
        data: {paint: "all !{color}"}
  - name: settings
    spec:
      object:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: settings}
        data: {color: blue}
`)
	g.Eventually(status(t, ns, "shop"), 10*time.Second, 50*time.Millisecond).Should(ContainSubstring("progress: 2/2"))
	web, err := client(t).Resource(configMaps).Namespace(ns).Get(t.Context(), "web", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(web.Object["data"]).To(Equal(map[string]any{"paint": "all blue"}))
	g.Expect(client(t).Resource(bundles).Namespace(ns).Delete(t.Context(), "shop", metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(status(t, ns, "shop"), 10*time.Second, 50*time.Millisecond).Should(ContainSubstring("not found"))
	_, err = client(t).Resource(configMaps).Namespace(ns).Get(t.Context(), "settings", metav1.GetOptions{})
	g.Expect(err).To(HaveOccurred())
}
