package trace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// now is the moment of all tests.
func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// node is a resource of a test's Bundle: "name" or "name: need need", an object
// ("ConfigMap/name" unless given) and a state.
type node struct {
	spec    string
	object  string
	state   graph.State
	message string
	// terminal, reason are of an Error.
	terminal bool
	reason   string
}

// bundleOf makes a Bundle with the status that Truss would write.
func bundleOf(t testing.TB, nodes ...node) *v1.Bundle {
	t.Helper()
	b := &v1.Bundle{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u1", Generation: 4}}
	report := bundle.Report{Observed: 4}
	for _, n := range nodes {
		name, needs, _ := strings.Cut(n.spec, ": ")
		b.Spec.Resources = append(b.Spec.Resources, resourceOf(t, name, n.object, strings.Fields(needs)))
		report.Nodes = append(report.Nodes, bundle.NodeReport{Name: name, State: n.state, Terminal: n.terminal, Reason: n.reason, Message: n.message})
	}
	b.Status = bundle.Status(nil, report, now())
	return b
}

func resourceOf(t testing.TB, name, object string, needs []string) v1.Resource {
	t.Helper()
	kind, objectName, ok := strings.Cut(object, "/")
	if !ok {
		kind, objectName = "ConfigMap", name
	}
	apiVersion := "v1"
	if kind != "ConfigMap" {
		apiVersion = "example.com/v1"
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": objectName}})
	if err != nil {
		t.Fatal(err)
	}
	r := v1.Resource{Name: name, Spec: v1.ResourceSpec{Object: &runtime.RawExtension{Raw: raw}}}
	for _, need := range needs {
		r.References = append(r.References, v1.Reference{Resource: need})
	}
	return r
}

// liveOf lists children: "Kind/name" created so long ago.
func liveOf(children map[string]time.Duration) trace.Live {
	live := trace.Live{}
	for object, age := range children {
		kind, name, _ := strings.Cut(object, "/")
		gk := schema.GroupKind{Group: "example.com", Kind: kind}
		if kind == "ConfigMap" {
			gk.Group = ""
		}
		if live[gk] == nil {
			live[gk] = map[string]trace.Child{}
		}
		created := now().Add(-age)
		live[gk][name] = trace.Child{Created: &created}
	}
	return live
}

func traceOf(b *v1.Bundle, live trace.Live) *trace.Trace { return trace.Of(b, trace.NewPlan(b), live) }

// shop is a Bundle of five resources with a diamond: web needs db and cache.
func shop(t testing.TB) (*v1.Bundle, trace.Live) {
	t.Helper()
	b := bundleOf(t,
		node{spec: "web: db cache", object: "Deployment/web", state: graph.Blocked},
		node{spec: "net", object: "Network/net", state: graph.Ready, message: "condition Ready is True"},
		node{spec: "db: net", object: "Database/main", state: graph.InProgress, message: "status.endpoint is not there yet"},
		node{spec: "cache: net", state: graph.Ready},
		node{spec: "dash: web", object: "Dashboard/dash", state: graph.Blocked},
	)
	return b, liveOf(map[string]time.Duration{"Network/net": 5 * time.Minute, "Database/main": 90 * time.Second, "ConfigMap/cache": 5 * time.Minute})
}

// many is a Bundle of one database in progress, count resources that wait for
// it and ready others.
func many(t testing.TB, waiting, ready int) *v1.Bundle {
	t.Helper()
	nodes := []node{{spec: "db", object: "Database/main", state: graph.InProgress, message: "starting"}}
	for i := range waiting {
		nodes = append(nodes, node{spec: fmt.Sprintf("worker-%04d: db", i), state: graph.Blocked})
	}
	for i := range ready {
		nodes = append(nodes, node{spec: fmt.Sprintf("setting-%04d", i), state: graph.Ready})
	}
	return bundleOf(t, nodes...)
}

func itoa(i int) string { return fmt.Sprint(i) }
