package cli

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// letRead lets a user get Bundles of the namespace, and nothing else.
func letRead(t *testing.T, namespace, user string) {
	t.Helper()
	group := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	create(t, group.WithResource("roles"), namespace, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [smith.atlassian.com], resources: [bundles], verbs: [get]}]
`)
	create(t, group.WithResource("rolebindings"), namespace, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: `+user+`}]
`)
}

func TestTraceDoesWhatRightsAllow(t *testing.T) {
	controlplanetest.Need(t, plane)
	namespace := shopIn(t, statusOf(graph.Blocked, graph.InProgress, graph.Ready))
	letRead(t, namespace, "viewer")
	c := newCommand(t, namespace, "bundle/shop", "--as", "viewer")
	if code, err := c.run(t.Context()); err != nil || code != ExitPending {
		t.Errorf("%d, %v", code, err)
	}
	for _, want := range []string{
		"warning: cannot list objects of kind ConfigMap, their ages are not shown: configmaps is forbidden",
		"✔ settings   Ready       ConfigMap/settings  -",
	} {
		if !strings.Contains(c.text(), want) {
			t.Errorf("%q is missing in\n%s", want, c.text())
		}
	}
	_, err := newCommand(t, namespace, "bundle/shop", "-w", "--as", "viewer").run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "which takes the rights to list and watch them") {
		t.Errorf("watching ended with %v", err)
	}
}
