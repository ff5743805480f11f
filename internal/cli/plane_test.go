package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/internal/cli/trace"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

const (
	enough = 20 * time.Second
	often  = 50 * time.Millisecond
)

const shopYAML = `
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: shop, finalizers: [example.com/test]}
spec:
  resources:
  - name: web
    references: [{resource: db}]
    spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: web}}}
  - name: db
    references: [{resource: settings}]
    spec: {object: {apiVersion: example.com/v1, kind: Unheard, metadata: {name: main}}}
  - name: settings
    spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}}
`

// statusOf is the status after the resources web, db and settings reached
// these states.
func statusOf(web, db, settings graph.State) v1.BundleStatus {
	return bundle.Status(nil, bundle.Report{Observed: 1, Nodes: []bundle.NodeReport{
		{Name: "web", State: web}, {Name: "db", State: db, Message: "kind Unheard is not installed", Terminal: true}, {Name: "settings", State: settings},
	}}, time.Now())
}

// shopIn makes the Bundle, and its settings with the label that Truss gives.
func shopIn(t *testing.T, s v1.BundleStatus) (namespace string) {
	t.Helper()
	namespace = controlplanetest.Namespace(t, plane)
	b := create(t, v1.BundleGVR, namespace, shopYAML)
	create(t, schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, namespace,
		fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, labels: {truss.dev/owner: %q}}", b.GetUID()))
	setStatus(t, namespace, "shop", s)
	t.Cleanup(func() { release(t, namespace) })
	return namespace
}

// release removes the finalizer; the Bundle may be gone.
func release(t *testing.T, namespace string) {
	t.Helper()
	patch := []byte(`{"metadata":{"finalizers":null}}`)
	_, _ = resources(t, v1.BundleGVR, namespace).Patch(context.Background(), "shop", "application/merge-patch+json", patch, metav1.PatchOptions{})
}

func TestTraceOfAClusterShowsStatesAndAges(t *testing.T) {
	g := NewWithT(t)
	controlplanetest.Need(t, plane)
	namespace := shopIn(t, statusOf(graph.Blocked, graph.InProgress, graph.Ready))
	c := newCommand(t, namespace, "bundle/shop")
	code, err := c.run(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(code).To(Equal(ExitPending))
	text := regexp.MustCompile(`\d+s\b`).ReplaceAllString(strings.ReplaceAll(c.text(), namespace, "ns"), "Ns")
	g.Expect(text).To(Equal(`Bundle ns/shop  InProgress  Ready 1/3  db: kind Unheard is not installed

  RESOURCE     STATE       OBJECT              AGE  MESSAGE
* ✔ settings   Ready       ConfigMap/settings  Ns
* └─ ● db      InProgress  Unheard/main        -    kind Unheard is not installed
*    └─ ○ web  Blocked     ConfigMap/web       -    waits for db
* on the critical path
`))
	g.Expect(c.asked("/bundles/shop")).To(Equal(1))
	g.Expect(c.asked("/configmaps")).To(Equal(1), "one list for the two ConfigMaps")
	for _, r := range c.requests {
		g.Expect(r).To(HavePrefix("GET "))
	}
}

func TestTraceExitsByTheState(t *testing.T) {
	controlplanetest.Need(t, plane)
	cases := []struct {
		reason string
		status v1.BundleStatus
		code   int
		err    string
	}{
		{"Ready", statusOf(graph.Ready, graph.Ready, graph.Ready), 0, ""},
		{"failed for good", statusOf(graph.Blocked, graph.Error, graph.Ready), 0, "the Bundle has failed"},
		{"not looked at yet", v1.BundleStatus{}, ExitPending, ""},
	}
	for _, c := range cases {
		namespace := shopIn(t, c.status)
		for _, args := range [][]string{{"bdl", "shop"}, {"bundles/shop", "-o", "json"}} {
			code, err := newCommand(t, namespace, args...).run(t.Context())
			got := ""
			if err != nil {
				got = err.Error()
			}
			if code != c.code || got != c.err {
				t.Errorf("%s: %d, %q", c.reason, code, got)
			}
		}
	}
}

func TestTraceFollowsABundleUntilItIsReady(t *testing.T) {
	g := NewWithT(t)
	controlplanetest.Need(t, plane)
	namespace := shopIn(t, statusOf(graph.Blocked, graph.InProgress, graph.Ready))
	c := newCommand(t, namespace, "bundle/shop", "--watch")
	ended := make(chan error, 1)
	go func() {
		code, err := c.run(t.Context())
		if code != 0 && err == nil {
			err = fmt.Errorf("exit code %d", code)
		}
		ended <- err
	}()
	g.Eventually(c.text, enough, often).Should(MatchRegexp(`settings +\d+s`))
	setStatus(t, namespace, "shop", statusOf(graph.InProgress, graph.Ready, graph.Ready))
	g.Eventually(c.text, enough, often).Should(MatchRegexp(`(?m)^\d\d:\d\d:\d\d  db  Unheard/main  Ready$`))
	setStatus(t, namespace, "shop", statusOf(graph.Ready, graph.Ready, graph.Ready))
	g.Eventually(ended, enough).Should(Receive(BeNil()))
	g.Expect(c.text()).To(MatchRegexp(`Ready  3/3 ready\n$`))
	g.Expect(c.asked("/bundles/shop")).To(Equal(1), "watched, not polled")
	g.Expect(c.asked("/namespaces/"+namespace+"/bundles")).To(BeNumerically("<=", 2), "a list and a watch")
}

func TestTraceFollowsADeletionToItsEnd(t *testing.T) {
	g := NewWithT(t)
	controlplanetest.Need(t, plane)
	namespace := shopIn(t, statusOf(graph.Ready, graph.Ready, graph.Ready))
	g.Expect(resources(t, v1.BundleGVR, namespace).Delete(t.Context(), "shop", metav1.DeleteOptions{})).To(Succeed())
	setStatus(t, namespace, "shop", bundle.Deleting(nil, bundle.Teardown{Observed: 2, Total: 3, Left: []v1.ObjectToDelete{{Version: "v1", Kind: "ConfigMap", Name: "settings"}}}, time.Now()))
	c := newCommand(t, namespace, "bundle/shop", "-w", "-o", "json")
	ended := make(chan error, 1)
	go func() {
		_, err := c.run(t.Context())
		ended <- err
	}()
	g.Eventually(c.text, enough, often).Should(ContainSubstring(`"state":"Deleting","done":2,"total":3`))
	release(t, namespace)
	g.Eventually(ended, enough).Should(Receive(BeNil()))
	lines := strings.Split(strings.TrimSpace(c.text()), "\n")
	var last trace.Trace
	g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &last)).To(Succeed())
	g.Expect(last.State).To(Equal(trace.Gone))
	g.Expect(last.Done).To(Equal(3))
}

func TestTraceEndsWhenItIsInterrupted(t *testing.T) {
	g := NewWithT(t)
	controlplanetest.Need(t, plane)
	namespace := shopIn(t, statusOf(graph.Blocked, graph.InProgress, graph.Ready))
	c := newCommand(t, namespace, "bundle/shop", "-w")
	ctx, interrupt := context.WithCancel(t.Context())
	codes := make(chan int, 1)
	go func() {
		code, _ := c.run(ctx)
		codes <- code
	}()
	g.Eventually(c.text, enough, often).Should(ContainSubstring("RESOURCE"))
	interrupt()
	g.Eventually(codes, enough).Should(Receive(Equal(ExitPending)))
}

func TestTraceWordsErrorsAsKubectlDoes(t *testing.T) {
	controlplanetest.Need(t, plane)
	namespace := controlplanetest.Namespace(t, plane)
	cases := []struct {
		reason, want string
		args         []string
	}{
		{"no such Bundle", `bundles.smith.atlassian.com "none" not found`, []string{"bundle/none"}},
		{"no such Bundle to wait for", `bundles.smith.atlassian.com "none" not found`, []string{"bundle/none", "-w"}},
		{"no server", "the connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?", []string{"bundle/none", "-s", "https://127.0.0.1:1"}},
		{"no rights", `User "nobody" cannot get resource "bundles"`, []string{"bundle/none", "--as", "nobody"}},
		{"no such context", `context "none" does not exist`, []string{"bundle/none", "--context", "none"}},
	}
	for _, c := range cases {
		_, err := newCommand(t, namespace, c.args...).run(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}

func TestNamesAreCompleted(t *testing.T) {
	controlplanetest.Need(t, plane)
	namespace := shopIn(t, v1.BundleStatus{})
	cases := []struct {
		reason, want string
		args         []string
	}{
		{"the kind", "bundle/\n:6\n", []string{""}},
		{"a name behind the kind", "bdl/shop\n:4\n", []string{"bdl/s"}},
		{"a name as its own word", "shop\n:4\n", []string{"bundle", ""}},
		{"no name begins so", ":4\n", []string{"bundle/x"}},
		{"nothing behind a name", ":4\n", []string{"bundle", "shop", ""}},
	}
	for _, c := range cases {
		cmd := NewGraph()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&bytes.Buffer{})
		flags := []string{"__complete", "--kubeconfig", plane.KubeconfigPath(), "-n", namespace}
		cmd.SetArgs(append(flags, c.args...))
		if err := cmd.ExecuteContext(t.Context()); err != nil || out.String() != c.want {
			t.Errorf("%s: %q, %v", c.reason, out.String(), err)
		}
	}
}

func TestGraphOfAClusterHasStates(t *testing.T) {
	g := NewWithT(t)
	controlplanetest.Need(t, plane)
	namespace := shopIn(t, statusOf(graph.Blocked, graph.InProgress, graph.Ready))
	var out bytes.Buffer
	cmd := NewGraph()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"bundle/shop", "--kubeconfig", plane.KubeconfigPath(), "-n", namespace})
	g.Expect(cmd.ExecuteContext(t.Context())).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("* db (Unheard/main)              InProgress  needs settings\n"))
}

// A kind that comes while the Bundle is watched is followed then.
func TestTraceFollowsKindsThatCome(t *testing.T) {
	g := NewWithT(t)
	controlplanetest.Need(t, plane)
	namespace := shopIn(t, statusOf(graph.Blocked, graph.InProgress, graph.Ready))
	c := newCommand(t, namespace, "bundle/shop", "-w", "-o", "json")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.run(ctx)
	}()
	g.Eventually(c.text, enough, often).Should(ContainSubstring("settings"))
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	create(t, crds, "", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: unheards.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Unheard, plural: unheards}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`)
	t.Cleanup(func() {
		_ = resources(t, crds, "").Delete(context.Background(), "unheards.example.com", metav1.DeleteOptions{})
	})
	b, err := resources(t, v1.BundleGVR, namespace).Get(t.Context(), "shop", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	unheards := resources(t, schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "unheards"}, namespace)
	child := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Unheard", "metadata": map[string]any{
		"name": "main", "labels": map[string]any{"truss.dev/owner": string(b.GetUID())},
	}}}
	g.Eventually(func() error {
		_, err := unheards.Create(t.Context(), child, metav1.CreateOptions{})
		return err
	}, enough, often).Should(Succeed())
	// What wakes the watcher is a change of the Bundle: its manager sees the kind too.
	n := 0
	g.Eventually(func() string {
		n++
		s := statusOf(graph.Blocked, graph.InProgress, graph.Ready)
		s.Message = fmt.Sprint("look ", n)
		setStatus(t, namespace, "shop", s)
		return c.text()
	}, enough, 300*time.Millisecond).Should(MatchRegexp(`"kind":"Unheard","namespace":"[^"]+","name":"main"},"created"`))
	interrupt()
	<-ended
}
