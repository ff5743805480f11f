package deploy_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// patience is how long the cluster's controllers may take.
const patience = 30 * time.Second

// A right is something the manager may be asked to do.
type right struct {
	verb, group, resource, subresource, namespace, name string
}

// may asks the API server whether the manager's own token carries a right.
func may(t *testing.T, manager kubernetes.Interface, r right) bool {
	t.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
		},
	}}
	answer, err := manager.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status.Allowed
}

// managerOf is a client with the manager's own token.
func managerOf(t *testing.T, plane *controlplane.Plane) kubernetes.Interface {
	t.Helper()
	config, err := plane.ServiceAccountConfig(t.Context(), "truss-system", "truss-manager")
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
}

func TestDefaultIsAcceptedAndItsPodsAdmitted(t *testing.T) {
	g := NewWithT(t)
	plane := controlplanetest.Start(t, controlplane.Options{Nodes: 1})
	binaries, err := controlplane.FindBinaries()
	g.Expect(err).NotTo(HaveOccurred())
	apply := exec.CommandContext(t.Context(), filepath.Join(binaries, "kubectl"),
		"--kubeconfig", plane.KubeconfigPath(), "apply", "--server-side", "-k", "default")
	out, err := apply.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	g.Expect(string(out)).NotTo(ContainSubstring("Warning"), "the API server has something to say about deploy/default")

	admin := kubernetes.NewForConfigOrDie(plane.AdminConfig())
	g.Eventually(func(g Gomega) {
		d, err := admin.AppsV1().Deployments("truss-system").Get(t.Context(), "truss-manager", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(d.Status.AvailableReplicas).To(BeEquivalentTo(2), "%v", d.Status.Conditions)
	}).WithTimeout(patience).Should(Succeed())

	manager := managerOf(t, plane)
	g.Eventually(func() bool {
		return may(t, manager, right{verb: "create", resource: "configmaps", namespace: "default"})
	}).WithTimeout(patience).Should(BeTrue(), "rights of truss-bundles-builtin are not aggregated into truss-bundles")
	cases := map[string]struct {
		reason string
		right  right
		want   bool
	}{
		"status":          {"the reconciler writes its owner's status", right{verb: "patch", group: "smith.atlassian.com", resource: "bundles", subresource: "status", namespace: "default"}, true},
		"blocking owners": {"children carry a blocking owner reference", right{verb: "update", group: "smith.atlassian.com", resource: "bundles", subresource: "finalizers", namespace: "default"}, true},
		"new Bundles":     {"owners are made by people", right{verb: "create", group: "smith.atlassian.com", resource: "bundles", namespace: "default"}, false},
		"inventory":       {"plans are recorded beside their owner", right{verb: "create", group: "apps", resource: "controllerrevisions", namespace: "default"}, true},
		"definitions":     {"kinds are watched", right{verb: "watch", group: "apiextensions.k8s.io", resource: "customresourcedefinitions"}, true},
		"lease":           {"one manager leads", right{verb: "create", group: "coordination.k8s.io", resource: "leases", namespace: "truss-system"}, true},
		"other leases":    {"leases elsewhere are others'", right{verb: "create", group: "coordination.k8s.io", resource: "leases", namespace: "kube-system"}, false},
		"token reviews":   {"readers of metrics are authenticated", right{verb: "create", group: "authentication.k8s.io", resource: "tokenreviews"}, true},
		"other kinds":     {"kinds beyond the shipped ones need a labelled ClusterRole", right{verb: "create", group: "example.org", resource: "widgets", namespace: "default"}, false},
		"impersonation":   {"each namespace opts in for itself", right{verb: "impersonate", resource: "serviceaccounts", namespace: "kube-system", name: "clusterrole-aggregation-controller"}, false},
		"roles":           {"the manager touches no RBAC kind", right{verb: "create", group: "rbac.authorization.k8s.io", resource: "clusterroles"}, false},
		"escalation":      {"nor could it grant what it has not", right{verb: "escalate", group: "rbac.authorization.k8s.io", resource: "clusterroles"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(may(t, manager, tc.right)).To(Equal(tc.want), tc.reason)
		})
	}
}

func TestLocalManagerMayCreateAnyKindButNoRights(t *testing.T) {
	g := NewWithT(t)
	plane := controlplanetest.Start(t, controlplane.Options{})
	g.Expect(plane.Apply(t.Context(), deploy.LocalManifests())).To(Succeed())
	manager := managerOf(t, plane)
	g.Eventually(func() bool {
		return may(t, manager, right{verb: "create", group: "example.org", resource: "widgets", namespace: "default"})
	}).WithTimeout(patience).Should(BeTrue(), "a person's own control plane needs no role for each kind")
	cases := map[string]struct {
		reason string
		right  right
	}{
		"impersonation": {"impersonation alone is cluster-admin", right{verb: "impersonate", resource: "serviceaccounts", namespace: "kube-system"}},
		"escalation":    {"a role may not hold more than its author", right{verb: "escalate", group: "rbac.authorization.k8s.io", resource: "clusterroles"}},
		"binding":       {"nor be bound by who lacks its rights", right{verb: "bind", group: "rbac.authorization.k8s.io", resource: "clusterroles"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(may(t, manager, tc.right)).To(BeFalse(), tc.reason)
		})
	}
}
