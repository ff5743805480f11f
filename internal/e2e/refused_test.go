package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a Bundle may not have was never written, so it must not hold up the
// Bundle's deletion either.
func TestBundleWithKindsItMayNotHaveCanBeDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(`
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: refused}
spec:
  resources:
  - name: cluster-scoped
    spec: {object: {apiVersion: v1, kind: Namespace, metadata: {name: refused-by-truss}}}
  - name: rbac
    spec: {object: {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: refused}}}
  - name: unknown
    spec: {object: {apiVersion: absent.example.com/v1, kind: Absent, metadata: {name: refused}}}
  - name: fine
    spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: fine}}}
`)
	w.Eventually(w.gone(configMaps, "fine")).Should(BeFalse(), "other branches go on")
	w.Expect(w.of(bundles).Delete(t.Context(), "refused", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.gone(bundles, "refused")).Should(BeTrue())
	w.Expect(w.gone(configMaps, "fine")()).To(BeTrue())
}
