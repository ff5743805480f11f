package deploy_test

import (
	"context"
	"os"
	"regexp"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/manager"
)

var bundles = schema.GroupVersionResource{Group: "smith.atlassian.com", Version: "v1", Resource: "bundles"}

// runManager runs the manager in this process with its account's token and
// the rights of deploy/default, until the test ends.
func runManager(t *testing.T, plane *controlplane.Plane) {
	t.Helper()
	config, err := plane.ServiceAccountConfig(t.Context(), "truss-system", "truss-manager")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- manager.Run(ctx, manager.Options{
			Config: config, Registry: prometheus.NewRegistry(), Namespace: "truss-system", Version: "test",
			LeaderElect: true, LeaseDuration: 15 * time.Second, MetricsAddress: "0", HealthAddress: "0",
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with an error: %v", err)
		}
	})
}

// readmeBundle is the example that README.md shows.
func readmeBundle(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(readme)
	if example == nil {
		t.Fatal("README.md shows no YAML")
	}
	return &parse(t, example[1])[0]
}

func TestShippedRightsAreEnoughForTheReadme(t *testing.T) {
	g := NewWithT(t)
	plane := controlplanetest.Start(t, controlplane.Options{Nodes: 1})
	crds, err := deploy.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plane.Apply(t.Context(), append(crds, deploy.ManagerManifests())...)).To(Succeed())
	runManager(t, plane)

	owners := dynamic.NewForConfigOrDie(plane.AdminConfig()).Resource(bundles).Namespace("default")
	bundle, err := owners.Create(t.Context(), readmeBundle(t), metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func(g Gomega) {
		b, err := owners.Get(t.Context(), bundle.GetName(), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		progress, _, _ := unstructured.NestedString(b.Object, "status", "progress")
		g.Expect(progress).To(Equal("2/2"), "%v", b.Object["status"])
	}).WithTimeout(patience).Should(Succeed())

	web, err := kubernetes.NewForConfigOrDie(plane.AdminConfig()).AppsV1().Deployments("default").Get(t.Context(), "shop", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(web.Spec.Template.Spec.Containers[0].Env[0].Value).To(Equal("hello"))

	g.Expect(owners.Delete(t.Context(), bundle.GetName(), metav1.DeleteOptions{})).To(Succeed())
	g.Eventually(func() bool {
		_, err := owners.Get(t.Context(), bundle.GetName(), metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}).WithTimeout(patience).Should(BeTrue(), "the Bundle is never released")
}
