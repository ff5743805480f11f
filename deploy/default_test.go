package deploy_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/truss-dev/truss/deploy"
)

// render builds deploy/default as kubectl does.
func render(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "default")
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text)
}

func parse(t *testing.T, stream []byte) []unstructured.Unstructured {
	t.Helper()
	var objects []unstructured.Unstructured
	dec := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	for {
		var u unstructured.Unstructured
		err := dec.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(u.Object) > 0 {
			objects = append(objects, u)
		}
	}
}

// typed converts the objects of one kind.
func typed[T any](t *testing.T, objects []unstructured.Unstructured, kind string) []T {
	t.Helper()
	var out []T
	for _, u := range objects {
		if u.GetKind() != kind {
			continue
		}
		var o T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, &o, true); err != nil {
			t.Fatalf("%s %s: %v", kind, u.GetName(), err)
		}
		out = append(out, o)
	}
	return out
}

// refused returns what a role may not say: a wildcard unless allowed, or a
// verb by which more rights can be had.
func refused(rules []rbacv1.PolicyRule, wildcards bool) []string {
	var found []string
	for _, r := range rules {
		all := slices.Concat(r.APIGroups, r.Resources, r.Verbs, r.NonResourceURLs)
		if !wildcards && slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "*") }) {
			found = append(found, "wildcard")
		}
		for _, verb := range []string{"*", "escalate", "bind", "impersonate"} {
			if slices.Contains(r.Verbs, verb) {
				found = append(found, verb)
			}
		}
		if slices.Contains(r.APIGroups, rbacv1.GroupName) {
			found = append(found, rbacv1.GroupName)
		}
	}
	return found
}

func TestRefusedFindsDangerousRules(t *testing.T) {
	cases := map[string]struct {
		reason    string
		rule      rbacv1.PolicyRule
		wildcards bool
		want      []string
	}{
		"plain":       {"an ordinary rule", rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get"}}, false, nil},
		"wildcard":    {"a wildcard grants what nobody has listed", rbacv1.PolicyRule{APIGroups: []string{"*"}, Verbs: []string{"get"}}, false, []string{"wildcard"}},
		"local":       {"the local manager may name every kind, but not every verb", rbacv1.PolicyRule{APIGroups: []string{"*"}, Verbs: []string{"get", "*"}}, true, []string{"*"}},
		"impersonate": {"impersonation in a ClusterRole is cluster-admin", rbacv1.PolicyRule{Resources: []string{"serviceaccounts"}, Verbs: []string{"impersonate"}}, true, []string{"impersonate"}},
		"roles":       {"who changes roles changes rights", rbacv1.PolicyRule{APIGroups: []string{"rbac.authorization.k8s.io"}, Verbs: []string{"get"}}, false, []string{"rbac.authorization.k8s.io"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, refused([]rbacv1.PolicyRule{tc.rule}, tc.wildcards)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNoRoleLeadsToMoreRights(t *testing.T) {
	cases := map[string]struct {
		objects   []unstructured.Unstructured
		wildcards bool
	}{
		"deploy/default": {render(t), false},
		"the manager":    {parse(t, deploy.ManagerManifests()), false},
		"truss local up": {parse(t, deploy.LocalManifests()), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			roles := 0
			for _, r := range typed[rbacv1.ClusterRole](t, tc.objects, "ClusterRole") {
				roles++
				if found := refused(r.Rules, tc.wildcards); len(found) > 0 {
					t.Errorf("ClusterRole %s holds %q", r.Name, found)
				}
			}
			for _, r := range typed[rbacv1.Role](t, tc.objects, "Role") {
				roles++
				if found := refused(r.Rules, false); len(found) > 0 {
					t.Errorf("Role %s holds %q", r.Name, found)
				}
			}
			if roles < 4 {
				t.Errorf("found %d roles: the check looked at nothing", roles)
			}
		})
	}
}

func TestOnlyTheLocalManagerMayTouchEveryKind(t *testing.T) {
	stars := func(stream []byte) (names []string) {
		for _, r := range typed[rbacv1.ClusterRole](t, parse(t, stream), "ClusterRole") {
			if slices.Contains(refused(r.Rules, false), "wildcard") {
				names = append(names, r.Name)
			}
		}
		return names
	}
	if got := stars(deploy.ManagerManifests()); got != nil {
		t.Errorf("manager's roles with wildcards: %q, want none", got)
	}
	if diff := cmp.Diff([]string{"truss-local"}, stars(deploy.LocalManifests())); diff != "" {
		t.Errorf("local roles with wildcards (-want +got):\n%s", diff)
	}
}

func TestEveryObjectIsNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, u := range render(t) {
		id := strings.Join([]string{u.GroupVersionKind().Group, u.GetKind(), u.GetNamespace(), u.GetName()}, "/")
		if u.GetName() == "" || u.GetAPIVersion() == "" || seen[id] {
			t.Errorf("object %q has no name or API version, or is there twice", id)
		}
		seen[id] = true
	}
	for _, want := range []string{
		"/Namespace//truss-system", "/ServiceAccount/truss-system/truss-manager", "/Service/truss-system/truss-metrics",
		"policy/PodDisruptionBudget/truss-system/truss-manager", "networking.k8s.io/NetworkPolicy/truss-system/truss-manager",
	} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestRenderedCRDsAreTheEmbeddedOnes(t *testing.T) {
	crds, err := deploy.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	names := func(objects []unstructured.Unstructured) (names []string) {
		for _, u := range objects {
			if u.GetKind() == "CustomResourceDefinition" {
				names = append(names, u.GetName())
			}
		}
		slices.Sort(names)
		return names
	}
	var embedded []unstructured.Unstructured
	for _, crd := range crds {
		embedded = append(embedded, parse(t, crd)...)
	}
	if diff := cmp.Diff(names(embedded), names(render(t))); diff != "" {
		t.Errorf("deploy/crds/kustomization.yml lists other files than there are (-embedded +rendered):\n%s", diff)
	}
}

func TestBundleRightsAreAggregated(t *testing.T) {
	var into, from []string
	const label = "truss.dev/aggregate-to-bundles"
	for _, r := range typed[rbacv1.ClusterRole](t, render(t), "ClusterRole") {
		if r.AggregationRule != nil && len(r.Rules) == 0 && r.AggregationRule.ClusterRoleSelectors[0].MatchLabels[label] == "true" {
			into = append(into, r.Name)
		}
		if r.Labels[label] == "true" {
			from = append(from, r.Name)
		}
	}
	if diff := cmp.Diff([][]string{{"truss-bundles"}, {"truss-bundles-builtin"}}, [][]string{into, from}); diff != "" {
		t.Errorf("aggregated roles and their parts (-want +got):\n%s", diff)
	}
}

func TestManagerIsRestricted(t *testing.T) {
	objects := render(t)
	namespace := typed[corev1.Namespace](t, objects, "Namespace")[0]
	if got := namespace.Labels["pod-security.kubernetes.io/enforce"]; got != "restricted" {
		t.Errorf("the namespace enforces %q, want restricted", got)
	}
	for _, d := range typed[appsv1.Deployment](t, objects, "Deployment") {
		pod := d.Spec.Template.Spec
		if s := pod.SecurityContext; s == nil || !isTrue(s.RunAsNonRoot) || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: pods run as root or without a seccomp profile", d.Name)
		}
		for _, c := range pod.Containers {
			s := c.SecurityContext
			if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || !isTrue(s.ReadOnlyRootFilesystem) ||
				s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
				t.Errorf("%s: container %s may gain privileges or write to its root file system", d.Name, c.Name)
			}
			if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
				t.Errorf("%s: container %s is not probed on /healthz and /readyz", d.Name, c.Name)
			}
			if c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s: container %s has no memory request or limit", d.Name, c.Name)
			}
			if !slices.Contains(c.Args, "--default-service-account=default") {
				t.Errorf("%s: children would be written with the manager's own rights by default", d.Name)
			}
		}
		if *d.Spec.Replicas < 2 {
			t.Errorf("%s: %d replicas cannot hand over", d.Name, *d.Spec.Replicas)
		}
	}
}

func isTrue(b *bool) bool { return b != nil && *b }

func TestLocalManifestsAddOneRoleAndItsBinding(t *testing.T) {
	manager, local := parse(t, deploy.ManagerManifests()), parse(t, deploy.LocalManifests())
	if len(manager) == 0 || manager[0].GetKind() != "Namespace" {
		t.Errorf("the manager's manifests do not begin with its namespace")
	}
	if got, want := len(local), len(manager)+2; got != want {
		t.Errorf("LocalManifests has %d objects, want %d", got, want)
	}
}
