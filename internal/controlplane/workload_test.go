package controlplane_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// patience is what a simulated workload may take on a loaded machine.
const patience = 60 * time.Second

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{
			RestartPolicy:  corev1.RestartPolicyAlways,
			InitContainers: []corev1.Container{{Name: "first", Image: "none"}},
			Containers:     []corev1.Container{{Name: "main", Image: "none"}},
		},
	}
}

func TestDeploymentsBecomeAvailableOnSimulatedNodes(t *testing.T) {
	g := NewWithT(t)
	deployments := controlplanetest.Client(t, plane).AppsV1().Deployments(controlplanetest.Namespace(t, plane))
	replicas := int32(2)
	_, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
			Template: podTemplate(),
		},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (int32, error) {
		d, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
		return d.Status.AvailableReplicas, err
	}, patience).Should(Equal(replicas))
}

func TestJobsComplete(t *testing.T) {
	g := NewWithT(t)
	jobs := controlplanetest.Client(t, plane).BatchV1().Jobs(controlplanetest.Namespace(t, plane))
	template := podTemplate()
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err := jobs.Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "once"},
		Spec:       batchv1.JobSpec{Template: template},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (int32, error) {
		j, err := jobs.Get(t.Context(), "once", metav1.GetOptions{})
		return j.Status.Succeeded, err
	}, patience).Should(Equal(int32(1)))
}

func TestServiceAccountsHaveTheRightsTheyAreGivenAndNoOthers(t *testing.T) {
	g := NewWithT(t)
	namespace := controlplanetest.Namespace(t, plane)
	admin := controlplanetest.Client(t, plane)
	_, err := admin.CoreV1().ServiceAccounts(namespace).Create(t.Context(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "unbound"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	config, err := plane.ServiceAccountConfig(t.Context(), namespace, "unbound")
	g.Expect(err).NotTo(HaveOccurred())
	client, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "got %v", err)
	g.Expect(err).To(MatchError(ContainSubstring("system:serviceaccount:" + namespace + ":unbound")))
}

const widgetStage = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: widget-ready}
spec:
  resourceRef: {apiGroup: test.truss.dev/v1, kind: Widget}
  selector: {matchExpressions: [{key: .status.phase, operator: DoesNotExist}]}
  steps:
  - patch: {subresource: status, root: status, template: "phase: Ready"}
`

const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.truss.dev}
spec:
  group: test.truss.dev
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func TestStagesPlayCustomResourcesWhoseKindComesLater(t *testing.T) {
	g := NewWithT(t)
	namespace := controlplanetest.Namespace(t, plane)
	g.Expect(plane.Apply(t.Context(), []byte(widgetStage))).To(Succeed())
	g.Expect(plane.Apply(t.Context(), []byte(widgetCRD))).To(Succeed())
	g.Expect(plane.Apply(t.Context(), []byte(widget(namespace)))).To(Succeed())
	client, err := dynamic.NewForConfig(plane.AdminConfig())
	g.Expect(err).NotTo(HaveOccurred())
	widgets := client.Resource(schema.GroupVersionResource{Group: "test.truss.dev", Version: "v1", Resource: "widgets"})
	g.Eventually(func() (string, error) {
		w, err := widgets.Namespace(namespace).Get(t.Context(), "w", metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		phase, _, err := unstructured.NestedString(w.Object, "status", "phase")
		return phase, err
	}, patience).Should(Equal("Ready"))
}

func widget(namespace string) string {
	return "apiVersion: test.truss.dev/v1\nkind: Widget\nmetadata: {name: w, namespace: " + namespace + "}\n"
}

func TestApplyRefusesWhatIsNoObject(t *testing.T) {
	controlplanetest.Need(t, plane)
	for name, c := range map[string]struct{ manifest, want, reason string }{
		"no kind":   {"metadata: {name: x}", "no kind or no name", "it could be applied nowhere"},
		"no name":   {"kind: ConfigMap\napiVersion: v1", "no kind or no name", "apply needs a name"},
		"not YAML":  {"a: b: c", "cannot parse manifest 1", "the message says which document is broken"},
		"immutable": {"{apiVersion: v1, kind: Namespace, metadata: {name: Not_A_Name}}", "Not_A_Name", "the server's refusal is handed on at once"},
	} {
		t.Run(name, func(t *testing.T) {
			err := plane.Apply(t.Context(), []byte(c.manifest))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)), c.reason)
		})
	}
}
