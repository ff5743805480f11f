package controlplane_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// auditEvent is what these tests read of a line of the audit log.
type auditEvent struct {
	Level     string
	Verb      string
	User      struct{ Username string }
	ObjectRef struct{ Namespace, Resource, Name string }

	RequestObject, ResponseObject json.RawMessage
}

// audited gives the events about one namespace, by verb and resource.
func audited(t *testing.T, namespace string) (events map[string]auditEvent, raw []byte) {
	t.Helper()
	raw, err := os.ReadFile(plane.AuditLogPath())
	if err != nil {
		t.Fatal(err)
	}
	events = map[string]auditEvent{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e auditEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.ObjectRef.Namespace == namespace {
			events[e.Verb+" "+e.ObjectRef.Resource] = e
		}
	}
	return events, raw
}

// The log is read right after the last answer: blocking mode promises that
// the line is there by then.
func TestTheAuditLogTellsWritesAndKeepsSecrets(t *testing.T) {
	g := NewWithT(t)
	namespace := controlplanetest.Namespace(t, plane)
	core := controlplanetest.Client(t, plane).CoreV1()
	const canary = "Y2FuYXJ5LTdmM2E5Yw"
	uid := createSecretAndConfigMap(t, namespace, canary)
	precondition := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
	g.Expect(core.Secrets(namespace).Delete(t.Context(), "s", precondition)).To(Succeed())

	events, raw := audited(t, namespace)
	g.Expect(events).To(HaveKey("create configmaps"))
	g.Expect(events["create configmaps"].User.Username).To(Equal("truss-local-admin"))
	g.Expect(events["create configmaps"].RequestObject).To(BeEmpty(), "metadata suffices for a create")
	g.Expect(events["delete secrets"].RequestObject).To(ContainSubstring(string(uid)), "preconditions of deletes are visible")
	g.Expect(events["delete secrets"].ResponseObject).To(BeEmpty(), "the answer may hold the secret")
	g.Expect(string(raw)).NotTo(ContainSubstring(canary))
}

func createSecretAndConfigMap(t *testing.T, namespace, value string) (secret types.UID) {
	t.Helper()
	core := controlplanetest.Client(t, plane).CoreV1()
	made, err := core.Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s", Finalizers: []string{"test.truss.dev/keep"}},
		StringData: map[string]string{"password": value},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = core.ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.UID
}
