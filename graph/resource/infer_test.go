package resource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// nodesOf reads objects separated by lines of ---; each node is named after
// the object, "Kind/name".
func nodesOf(t testing.TB, documents string) []graph.Node[resource.Node] {
	t.Helper()
	var out []graph.Node[resource.Node]
	for document := range strings.SplitSeq(documents, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		gv, err := schema.ParseGroupVersion(object.GetAPIVersion())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, graph.Node[resource.Node]{
			ID: graph.ID(object.GetKind() + "/" + object.GetName()),
			Payload: resource.Node{
				Identity: resource.Identity{Group: gv.Group, Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()},
				Template: object,
			},
		})
	}
	return out
}

func inferred(t *testing.T, nodes []graph.Node[resource.Node], id graph.ID) []string {
	t.Helper()
	var out []string
	for _, n := range nodes {
		if n.ID != id {
			continue
		}
		for _, need := range n.Needs {
			if need.Reason != graph.Inferred {
				t.Errorf("%s needs %s with reason %s", id, need.ID, need.Reason)
			}
			out = append(out, string(need.ID))
		}
	}
	return out
}

const everything = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tests.example.com}
spec: {group: example.com, names: {kind: Test}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner, namespace: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: local, namespace: shop}
roleRef: {kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: runner}, {kind: User, name: default}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: wide}
roleRef: {kind: ClusterRole, name: reader}
subjects: [{kind: ServiceAccount, name: runner, namespace: shop}, {kind: ServiceAccount, name: runner, namespace: other}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: other}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: shop}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: p, namespace: shop}
---
`

func TestInferFindsWhatKubernetesAsksFor(t *testing.T) {
	pod := func(field string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: shop}\nspec: " + field
	}
	template := func(apiVersion, kind, before, after string) string {
		return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: x, namespace: shop}\nspec: %s{template: {spec: {volumes: [{secret: {secretName: s}}]}}}%s",
			apiVersion, kind, before, after)
	}
	withSecret := []string{"Namespace/shop", "ServiceAccount/default", "Secret/s"}
	cases := map[string]struct {
		reason string
		object string
		want   []string
	}{
		"CustomResource":  {"A CRD before its instances, also cluster-scoped ones", "apiVersion: example.com/v2\nkind: Test\nmetadata: {name: x}", []string{"CustomResourceDefinition/tests.example.com"}},
		"OtherGroup":      {"A kind of the same name in another group is another kind", "apiVersion: example.org/v1\nkind: Test\nmetadata: {name: x}", nil},
		"Namespace":       {"A Namespace before its contents", "apiVersion: v1\nkind: Service\nmetadata: {name: x, namespace: shop}", []string{"Namespace/shop"}},
		"Account":         {"Account and its bindings before the workload", pod("{serviceAccountName: runner}"), []string{"Namespace/shop", "ServiceAccount/runner", "RoleBinding/local", "ClusterRoleBinding/wide"}},
		"OldAccount":      {"The field's old name", pod("{serviceAccount: runner}"), []string{"Namespace/shop", "ServiceAccount/runner", "RoleBinding/local", "ClusterRoleBinding/wide"}},
		"DefaultAccount":  {"A pod that names no account runs as default; a User of that name is no account", pod("{containers: []}"), []string{"Namespace/shop", "ServiceAccount/default"}},
		"PullSecret":      {"Secrets for images", pod("{imagePullSecrets: [{name: s}]}"), withSecret},
		"ConfigMapVolume": {"Volumes, of the own namespace only", pod("{volumes: [{configMap: {name: c}}]}"), []string{"Namespace/shop", "ServiceAccount/default", "ConfigMap/c"}},
		"SecretVolume":    {"Volumes", pod("{volumes: [{secret: {secretName: s}}]}"), withSecret},
		"ClaimVolume":     {"Volumes", pod("{volumes: [{persistentVolumeClaim: {claimName: p}}]}"), []string{"Namespace/shop", "ServiceAccount/default", "PersistentVolumeClaim/p"}},
		"Projected":       {"Projected volumes", pod("{volumes: [{projected: {sources: [{secret: {name: s}}, {configMap: {name: c}}]}}]}"), append(withSecret[:3:3], "ConfigMap/c")},
		"Env":             {"Variables", pod("{containers: [{env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: k}}}]}]}"), append(withSecret[:3:3], "ConfigMap/c")},
		"EnvFrom":         {"Sets of variables, of init containers too", pod("{initContainers: [{envFrom: [{secretRef: {name: s}}, {configMapRef: {name: c}}]}]}"), append(withSecret[:3:3], "ConfigMap/c")},
		"Placeholder":     {"A name that is not known yet is none", pod(`{volumes: [{secret: {secretName: "!{s}"}}]}`), []string{"Namespace/shop", "ServiceAccount/default"}},
		"Garbage":         {"N26: fields of other types", pod("{serviceAccountName: 3, volumes: {a: b}, containers: [1, null, {env: 3, envFrom: [[]]}], imagePullSecrets: x}"), []string{"Namespace/shop", "ServiceAccount/default"}},
		"NoSpec":          {"N26: no spec", "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: shop}", []string{"Namespace/shop"}},
		"Deployment":      {"Where pods come from", template("apps/v1", "Deployment", "", ""), withSecret},
		"StatefulSet":     {"Where pods come from", template("apps/v1", "StatefulSet", "", ""), withSecret},
		"DaemonSet":       {"Where pods come from", template("apps/v1", "DaemonSet", "", ""), withSecret},
		"ReplicaSet":      {"Where pods come from", template("apps/v1", "ReplicaSet", "", ""), withSecret},
		"Job":             {"Where pods come from", template("batch/v1", "Job", "", ""), withSecret},
		"ReplicationC.":   {"Where pods come from", template("v1", "ReplicationController", "", ""), withSecret},
		"CronJob":         {"Where pods come from", template("batch/v1", "CronJob", "{jobTemplate: {spec: ", "}}"), withSecret},
		"OtherDeployment": {"A kind of that name of another group has another form", template("example.org/v1", "Deployment", "", ""), []string{"Namespace/shop"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			nodes := nodesOf(t, everything+tc.object)
			// Two ConfigMaps have one name; the other namespace's must not be it.
			nodes[9].ID = "ConfigMap/other"
			resource.Infer(nodes)
			if diff := cmp.Diff(tc.want, inferred(t, nodes, nodes[len(nodes)-1].ID)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInferOrdersBindingsAfterRolesAndAccounts(t *testing.T) {
	nodes := nodesOf(t, strings.TrimSuffix(everything, "---\n"))
	resource.Infer(nodes)
	for id, want := range map[graph.ID][]string{
		"RoleBinding/local":       {"Namespace/shop", "Role/reader", "ServiceAccount/runner"},
		"ClusterRoleBinding/wide": {"ClusterRole/reader", "ServiceAccount/runner"},
		"Namespace/shop":          nil,
		"ServiceAccount/runner":   {"Namespace/shop"},
	} {
		if diff := cmp.Diff(want, inferred(t, nodes, id)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

func TestInferKeepsDeclaredNeedsAndToleratesNodesWithoutTemplate(t *testing.T) {
	nodes := nodesOf(t, everything+"apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: shop}\nspec: {}")
	last := &nodes[len(nodes)-1]
	last.Needs = []graph.Need{{ID: "Secret/s", Reason: graph.Declared}}
	last.Payload.Template = nil
	resource.Infer(nodes)
	want := []graph.Need{{ID: "Secret/s", Reason: graph.Declared}, {ID: "Namespace/shop", Reason: graph.Inferred}}
	if diff := cmp.Diff(want, last.Needs); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
}

func TestInferAddsFewEdgesWhenAllShareOneAccount(t *testing.T) {
	var documents []string
	for i := range 300 {
		documents = append(documents,
			fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: p%d, namespace: a}\nspec: {}\n", i),
			fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b%d, namespace: a}\nsubjects: [{kind: ServiceAccount, name: default}]\n", i))
	}
	nodes := nodesOf(t, strings.Join(documents, "---\n"))
	resource.Infer(nodes)
	edges := 0
	for _, n := range nodes {
		edges += len(n.Needs)
	}
	if edges == 0 || edges > 300*16 {
		t.Errorf("300 pods and 300 bindings of one account give %d edges; their number must not be quadratic", edges)
	}
}
