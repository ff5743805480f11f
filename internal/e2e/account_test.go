package e2e

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/internal/manager"
)

// runner is a service account that may write ConfigMaps.
const runner = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: runner}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create, update, patch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: runner}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: runner}
subjects: [{kind: ServiceAccount, name: runner}]
`

const asRunner = `
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: app}
spec:
  serviceAccountName: runner
  resources:
  - name: settings
    spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}}
`

// impersonation is the message of the Bundle's condition, empty when it has
// none.
func (w *world) impersonation(name string) func() string {
	return func() string {
		c := meta.FindStatusCondition(w.bundle(name).Status.Conditions, "ImpersonationForbidden")
		if c == nil || c.Status != metav1.ConditionTrue {
			return ""
		}
		return c.Message
	}
}

// allow applies what the condition of a Bundle says is missing, as a person
// would who copies it from the message.
func (w *world) allow(message string) {
	w.t.Helper()
	_, text, found := strings.Cut(message, "apply: ")
	w.Expect(found).To(BeTrue(), message)
	var list struct{ Items []map[string]any }
	w.Expect(yaml.Unmarshal([]byte(text), &list)).To(Succeed(), text)
	w.Expect(list.Items).To(HaveLen(2), "a Role and a RoleBinding")
	for _, item := range list.Items {
		text, err := yaml.Marshal(item)
		w.Expect(err).NotTo(HaveOccurred())
		w.apply(strings.ReplaceAll(string(text), "NAMESPACE", w.ns))
	}
}

func TestServiceAccountNameNeedsTheNamespacesConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(runner)
	w.apply(asRunner)
	w.Eventually(w.impersonation("app")).Should(ContainSubstring("kind: RoleBinding"))
	w.Expect(w.gone(configMaps, "settings")()).To(BeTrue(), "nothing may be written with the manager's own rights")
	w.Expect(w.state("app", "settings")()).To(HavePrefix("Error RetriableError: ImpersonationForbidden"))
	since := mark(t)
	w.allow(w.impersonation("app")())
	w.ready("app")
	w.Expect(w.impersonation("app")()).To(BeEmpty())
	w.Expect(texts(writes(requests(t, since, w.ns)))).To(ContainElement("create configmaps settings"))
	w.remove("app")
	w.Expect(w.gone(configMaps, "settings")()).To(BeTrue())
}

func TestChildrenAreWrittenWithTheRightsOfTheServiceAccountOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(runner)
	w.apply(consent("runner"))
	w.apply(asRunner)
	w.ready("app")
	w.apply(strings.Replace(asRunner, "resources:", `resources:
  - name: account
    spec: {object: {apiVersion: v1, kind: ServiceAccount, metadata: {name: more}}}`, 1))
	w.Eventually(w.state("app", "account")).Should(And(ContainSubstring("system:serviceaccount:"+w.ns+":runner"), ContainSubstring("serviceaccounts"), ContainSubstring("rule")))
	w.Expect(w.state("app", "settings")()).To(HavePrefix("Ready"), "the other branch goes on")
	w.Expect(w.gone(accounts, "more")()).To(BeTrue())
	w.patchRole("runner", "configmaps", "serviceaccounts")
	w.ready("app")
}

// consent lets the manager act as a service account of the namespace.
func consent(name string) string {
	return strings.ReplaceAll(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: truss-impersonate-ACCOUNT}
rules: [{apiGroups: [""], resources: [serviceaccounts], resourceNames: [ACCOUNT], verbs: [impersonate]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: truss-impersonate-ACCOUNT}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: truss-impersonate-ACCOUNT}
subjects: [{kind: ServiceAccount, namespace: truss-system, name: truss-manager}]
`, "ACCOUNT", name)
}

// patchRole makes a role allow everything on some core resources.
func (w *world) patchRole(name string, resources ...string) {
	w.t.Helper()
	w.patch(roles, name, `{"rules":[{"apiGroups":[""],"resources":["`+strings.Join(resources, `","`)+
		`"],"verbs":["get","list","watch","create","update","patch","delete"]}]}`)
}

func TestDefaultServiceAccountWritesForBundlesThatNameNone(t *testing.T) {
	w := newWorld(t)
	restart(t, manager.Options{DefaultServiceAccount: "runner"})
	w.apply(runner)
	w.apply(strings.Replace(asRunner, "  serviceAccountName: runner\n", "", 1))
	w.Eventually(w.impersonation("app")).Should(ContainSubstring("kind: RoleBinding"))
	w.Expect(w.gone(configMaps, "settings")()).To(BeTrue())
	w.apply(consent("runner"))
	w.ready("app")
	w.remove("app")
}
