package writer

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph/resource"
)

func TestAnOwnerWritesInItsOwnNamespaceOnly(t *testing.T) {
	cases := map[string]struct {
		reason  string
		id      resource.Identity
		scope   meta.RESTScope
		account string
		want    string
	}{
		"Own":           {"Its own namespace", resource.Identity{Kind: "ConfigMap", Namespace: "shop"}, meta.RESTScopeNamespace, "", ""},
		"Other":         {"No other namespace", resource.Identity{Kind: "ConfigMap", Namespace: "bank"}, meta.RESTScopeNamespace, "", ReasonForeignNamespace},
		"None":          {"A namespaced kind without a namespace is not in its own", resource.Identity{Kind: "ConfigMap"}, meta.RESTScopeNamespace, "", ReasonForeignNamespace},
		"Cluster":       {"Nothing cluster-scoped", resource.Identity{Kind: "Namespace"}, meta.RESTScopeRoot, "", ReasonClusterScoped},
		"ClusterInside": {"The mapper says what is cluster-scoped, not the author's metadata.namespace", resource.Identity{Kind: "Namespace", Namespace: "shop"}, meta.RESTScopeRoot, "", ReasonClusterScoped},
		"RBAC":          {"Rights in the name of Truss are refused", resource.Identity{Group: "rbac.authorization.k8s.io", Kind: "Role", Namespace: "shop"}, meta.RESTScopeNamespace, "", ReasonRBACRefused},
		"RBACAs":        {"The account's own rights bound what it grants", resource.Identity{Group: "rbac.authorization.k8s.io", Kind: "Role", Namespace: "shop"}, meta.RESTScopeNamespace, "deployer", ""},
		"RBACCluster":   {"An account changes nothing about scope", resource.Identity{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, meta.RESTScopeRoot, "deployer", ReasonClusterScoped},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			owner := *testOwner
			owner.ServiceAccount = tc.account
			f := OwnNamespace{}.Check(&owner, tc.id, &meta.RESTMapping{Scope: tc.scope})
			if got := reasonOf(f); got != tc.want {
				t.Errorf("%s: Check() = %q, want %q", tc.reason, got, tc.want)
			}
			if f != nil && f.Class != Terminal {
				t.Error("no retry helps")
			}
		})
	}
}

func reasonOf(f *Failure) string {
	if f == nil {
		return ""
	}
	return f.Reason
}

func TestSecretDataStaysInSecrets(t *testing.T) {
	const allow = ", annotations: {truss.dev/allow-secret-data: 'true'}"
	cases := map[string]struct {
		reason, object string
		secret         bool
		want           string
	}{
		"Secret":      {"A Secret may hold it", "{apiVersion: v1, kind: Secret, metadata: {name: a}}", true, ""},
		"ConfigMap":   {"Anything else may not", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", true, ReasonSecretData},
		"OtherSecret": {"A kind called Secret of another group is not one", "{apiVersion: x.example.com/v1, kind: Secret, metadata: {name: a}}", true, ReasonSecretData},
		"Marked":      {"Unless it says so", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a" + allow + "}}", true, ""},
		"NoData":      {"What used none may be anything", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var object *unstructured.Unstructured
			if tc.object != "" {
				object = parse(t, tc.object)
			}
			f := CheckSecretData(resource.Rendered{Object: object, SecretData: tc.secret})
			if got := reasonOf(f); got != tc.want {
				t.Errorf("%s: CheckSecretData() = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
	if f := CheckSecretData(resource.Rendered{Excluded: true, SecretData: true}); f != nil {
		t.Errorf("nothing was rendered, yet: %v", f)
	}
}
