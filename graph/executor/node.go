package executor

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/readiness"
)

// node is what the executor remembers of one object of a graph. Only the
// worker that holds the node in flight touches it, except for the atomics.
type node struct {
	def     *resource.Node
	mapping *meta.RESTMapping
	store   *observer.Store

	// inputs identifies what the last render read; hash is its outcome.
	inputs   uint64
	rendered bool
	excluded bool
	hash     string
	memory   writer.Memory

	// failures counts failures in a row, of reason failing.
	failures int
	failing  string

	// related holds what was observed around the object.
	related related
	// blocker watches the foreign object that holds our name; blockerIs tells
	// which one it was.
	blocker   *observer.Store
	blockerIs string

	// recorded says that an older plan has the object.
	recorded bool
	// early is what a dry-run with example values found wrong.
	early *verdict
	// seen is set once the live object was seen in this process.
	seen      bool
	createdAt time.Time

	// used is the signature of the inputs that the object, or its absence, was
	// last brought up to date with. leaving says that the node is excluded and
	// its object not gone yet. Workers of other nodes read both.
	used    atomic.Uint64
	leaving atomic.Bool

	published atomic.Pointer[published]
	verdict   atomic.Pointer[verdict]
}

// kindLabel is the kind in metrics. Authors can make up any number of kinds, of
// which only those that the API server knows get series of their own.
func (n *node) kindLabel() string {
	if n.mapping == nil {
		return "unknown"
	}
	return n.def.Identity.GroupKind().String()
}

// published is what dependants may read of a node that is Ready. Immutable.
type published struct {
	object *unstructured.Unstructured // nil when excluded
	output *readiness.Output
	// outputVersion is the resourceVersion of the output object.
	outputVersion string
	// serial changes whenever dependants may read something else.
	serial uint64
}

func (p *published) uid() types.UID {
	if p == nil || p.object == nil {
		return ""
	}
	return p.object.GetUID()
}

// same says whether dependants read the same from p and q. With identity
// only, nothing but the UID matters, since no dependant reads more.
func (p *published) same(q *published, identityOnly bool) bool {
	if p == nil || q == nil || (p.object == nil) != (q.object == nil) {
		return p == q
	}
	if p.object == nil {
		return true
	}
	if identityOnly {
		return p.uid() == q.uid()
	}
	return p.uid() == q.uid() &&
		p.object.GetResourceVersion() == q.object.GetResourceVersion() &&
		sameOutput(p.output, q.output) && p.outputVersion == q.outputVersion
}

func sameOutput(a, b *readiness.Output) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// verdict is the state of a node, as shown to people.
type verdict struct {
	state    graph.State
	terminal bool
	reason   string
	message  string
	since    time.Time
	// retry is when to try again without an event; zero for never.
	retry time.Duration
}

func waiting(reason, message string) *verdict {
	return &verdict{state: graph.InProgress, reason: reason, message: message}
}

func failed(reason, message string) *verdict {
	return &verdict{state: graph.Error, terminal: true, reason: reason, message: message}
}

// of turns a failure of the writer into a verdict. Transient failures show as
// InProgress for the first attempts: a conflict is no news.
func (n *node) of(f *writer.Failure) *verdict {
	if n.failing != f.Reason {
		n.failing, n.failures = f.Reason, 0
	}
	n.failures++
	v := &verdict{reason: f.Reason, message: f.Message, retry: pause(f.Class, f.Reason, n.failures)}
	switch f.Class {
	case writer.Terminal:
		v.state, v.terminal = graph.Error, true
	case writer.Waiting:
		v.state = graph.InProgress
	case writer.Denied:
		v.state = graph.Error
	case writer.Retriable:
		v.state = graph.InProgress
		if n.failures > 3 {
			v.state = graph.Error
		}
	}
	return v
}
