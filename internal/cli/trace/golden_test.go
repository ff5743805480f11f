package trace_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/internal/cli/terminal"
	"github.com/truss-dev/truss/internal/cli/trace"
)

var update = flag.Bool("update", false, "write the golden files")

func TestTraceIsDrawn(t *testing.T) {
	wide := trace.Options{Width: 110, Rows: 100, MessageLines: 4}
	type golden struct {
		name, reason string
		trace        *trace.Trace
		options      trace.Options
	}
	b, live := shop(t)
	diamond := traceOf(b, live)
	cases := []golden{
		{"wide", "blocked resources stand below what blocks them, a diamond's second need is named", diamond, wide},
		{"narrow", "messages get lines of their own", diamond, trace.Options{Width: 64}},
		{"tiny", "so does the object", diamond, trace.Options{Width: 30}},
		{"pipe", "in a pipe nothing is cut", diamond, trace.Options{}},
		{"colour", "colours add no width", diamond, trace.Options{Width: 110, Colour: true}},
		{"ascii", "ASCII is enough", diamond, trace.Options{Width: 110, ASCII: true}},
		{"thousand", "what is Ready is counted, and most of what waits", traceOf(many(t, 600, 399), nil), wide},
		{"thousand-progress", "causes go before consequences", traceOf(busy(t), nil), trace.Options{Width: 100, Rows: 8}},
		{"chain", "a deep chain does not run out of the line", traceOf(chain(t, 30), nil), trace.Options{Width: 80}},
		{"errors", "mistakes in the spec are listed, all of them", traceOf(wrong(t), nil), wide},
		{"failed", "an error says whether Truss goes on, and takes the lines it needs", traceOf(failed(t), nil), wide},
		{"deletion", "a deletion is told in the order in which objects go", deleting(t), wide},
		{"deletion-pipe", "also where lines are long", deleting(t), trace.Options{}},
		{"prune", "objects that left the spec are listed", pruning(t), wide},
		{"unseen", "a Bundle that nobody looked at says so", unseen(t), wide},
		{"hostile", "text of the cluster cannot act on the terminal", hostile(t), wide},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.options.Now = now()
			lines := c.trace.Lines(c.options)
			compare(t, c.name+".txt", strings.Join(lines, "\n")+"\n", c.reason)
			for _, line := range lines {
				if w := terminal.Width(withoutColours(line)); c.options.Width > 0 && w > c.options.Width {
					t.Errorf("line of %d columns where %d fit: %q", w, c.options.Width, line)
				}
			}
		})
	}
}

func compare(t *testing.T, file, got, reason string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

// withoutColours removes the sequences that a Palette adds.
func withoutColours(s string) string {
	var b strings.Builder
	for s != "" {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			break
		}
		_, s, _ = strings.Cut(after, "m")
	}
	return b.String()
}

func chain(t *testing.T, length int) *v1.Bundle {
	t.Helper()
	nodes := []node{{spec: "link-0", state: graph.InProgress, message: "a message that is long enough to need more than one line of a narrow terminal"}}
	for i := 1; i < length; i++ {
		nodes = append(nodes, node{spec: "link-" + itoa(i) + ": link-" + itoa(i-1), state: graph.Blocked})
	}
	return bundleOf(t, nodes...)
}

func busy(t *testing.T) *v1.Bundle {
	t.Helper()
	nodes := []node{{spec: "late", state: graph.Blocked}}
	nodes[0].spec = "late: job-7"
	for i := range 20 {
		nodes = append(nodes, node{spec: "job-" + itoa(i), object: "Job/job-" + itoa(i), state: graph.InProgress})
	}
	nodes = append(nodes, node{spec: "bad", state: graph.Error, reason: "Collision", message: "exists", terminal: true})
	return bundleOf(t, nodes...)
}

func wrong(t *testing.T) *v1.Bundle {
	t.Helper()
	b := bundleOf(t, node{spec: "a: b missing"}, node{spec: "b: a"}, node{spec: "c: b"})
	b.Spec.Resources[2].Spec.Object = nil
	_, err := bundle.Compile(b)
	b.Status = bundle.Status(nil, bundle.Refused(b, err), now())
	return b
}

func failed(t *testing.T) *v1.Bundle {
	t.Helper()
	return bundleOf(t,
		node{spec: "db", object: "Database/main", state: graph.Error, reason: "Denied", terminal: false,
			message: "admission webhook \"guard.example.com\" denied the request:\nreplicas must be odd, and the operator of this cluster explains at length what to write instead so that nobody has to ask"},
		node{spec: "vpc", object: "Network/vpc", state: graph.Error, terminal: true, reason: "Collision", message: "an object of that name exists that this Bundle did not make"},
		node{spec: "web: db vpc", state: graph.Blocked},
		node{spec: "extra: web", state: graph.Blocked},
		node{spec: "gone", state: graph.Excluded},
	)
}

func deleting(t *testing.T) *trace.Trace {
	t.Helper()
	b, live := shop(t)
	asked := metav1.NewTime(now().Add(-time.Minute))
	b.DeletionTimestamp = &asked
	b.Status = bundle.Deleting(&b.Status, bundle.Teardown{Observed: 4, Total: 7, Left: []v1.ObjectToDelete{
		{Group: "example.com", Version: "v1", Kind: "Network", Name: "net"},
		{Group: "example.com", Version: "v1", Kind: "Database", Name: "main"},
		{Version: "v1", Kind: "ConfigMap", Name: "cache"},
		{Version: "v1", Kind: "ConfigMap", Name: "from-an-older-spec"},
	}, Message: "waiting for Database/main"}, now())
	gk := schema.GroupKind{Group: "example.com", Kind: "Database"}
	main := live[gk]["main"]
	main.Deleted, main.Finalizers = &asked.Time, []string{"example.com/backup"}
	live[gk]["main"] = main
	return traceOf(b, live)
}

func pruning(t *testing.T) *trace.Trace {
	t.Helper()
	b := bundleOf(t, node{spec: "a", state: graph.InProgress})
	b.Status.ObjectsToDelete = []v1.ObjectToDelete{
		{Version: "v1", Kind: "ConfigMap", Name: "old"},
		{Group: "example.com", Version: "v1", Kind: "Database", Name: "older"},
	}
	return traceOf(b, liveOf(map[string]time.Duration{"ConfigMap/old": 48 * time.Hour}))
}

func unseen(t *testing.T) *trace.Trace {
	t.Helper()
	b := bundleOf(t, node{spec: "a"}, node{spec: "b: a"})
	b.Status = v1.BundleStatus{}
	return traceOf(b, nil)
}

func hostile(t *testing.T) *trace.Trace {
	t.Helper()
	evil := "\x1b[2J\x1b]0;owned\a\u009b31m\u202eback\r\nnew\xff line"
	b := bundleOf(t, node{spec: "a", state: graph.InProgress, message: evil})
	b.Status.Message = evil
	b.Status.ResourceStatuses[0].Conditions[1].Message = evil
	b.Status.ObjectsToDelete = []v1.ObjectToDelete{{Kind: "Config\x1b[31mMap", Name: evil}}
	b.Spec.Resources = append(b.Spec.Resources, resourceOf(t, evil, "Con\x1bfig/"+evil, nil))
	return traceOf(b, nil)
}
