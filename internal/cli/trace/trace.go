package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/internal/cli/terminal"
)

// A Trace is how far a Bundle is, all of one moment.
type Trace struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// State is the Bundle's: Ready, InProgress, Error, Deleting, or Unknown
	// before a manager saw it.
	State State `json:"state"`
	// Retrying says of an Error that Truss tries again by itself.
	Retrying bool `json:"retrying,omitempty"`
	// Done and Total count the resources that are Ready; of a Bundle that is
	// being deleted, the objects that are gone.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Message is the first cause of the Bundle not being Ready.
	Message string `json:"message,omitempty"`
	// Generation is that of the spec. Stale says that the status, and with it
	// every state here, is about an older one.
	Generation int64 `json:"generation"`
	Stale      bool  `json:"stale,omitempty"`
	// Problems are the mistakes in the spec, all of them.
	Problems []string `json:"problems,omitempty"`
	// Nodes are the resources, each after those it waits for.
	Nodes []Node `json:"nodes"`
	// ToDelete are objects that left the spec and are not deleted yet.
	ToDelete []Removal `json:"toDelete,omitempty"`
}

// A Node is one resource of a Trace.
type Node struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Retrying is as in Trace.
	Retrying bool   `json:"retrying,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	Object   Object `json:"object"`
	Child
	// Needs are all that the resource needs, BlockedBy what it waits for now;
	// in a Bundle that is being deleted, what needs it and is not gone.
	Needs     []Need   `json:"needs,omitempty"`
	BlockedBy []string `json:"blockedBy,omitempty"`
	// Level is the length of the longest chain of needs below the resource.
	Level int `json:"level"`
	// Critical resources are on the longest chain of the Bundle.
	Critical bool `json:"critical,omitempty"`
}

// A Need is one edge of the graph, with its reason.
type Need struct {
	Name   string       `json:"name"`
	Reason graph.Reason `json:"reason"`
}

// An Object names one Kubernetes object.
type Object struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns "Kind/name".
func (o Object) String() string {
	if o.Kind == "" && o.Name == "" {
		return "-"
	}
	return o.Kind + "/" + o.Name
}

// A Removal is an object that is to be deleted.
type Removal struct {
	Object Object `json:"object"`
	State  State  `json:"state"`
	Child
}

// A Child is what is known of a live object.
type Child struct {
	// Created is nil where the object does not exist, or is not known.
	Created *time.Time `json:"created,omitempty"`
	// Deleted is when its deletion was asked for, nil if it was not.
	Deleted *time.Time `json:"deleted,omitempty"`
	// Finalizers hold its deletion up.
	Finalizers []string `json:"finalizers,omitempty"`
}

// Live holds the live objects of a Bundle by kind and name. A kind that is
// there was listed completely: a name that is missing in it does not exist.
type Live map[schema.GroupKind]map[string]Child

// find returns the object's child; known is false when its kind was not listed.
func (l Live) find(o Object) (child Child, exists, known bool) {
	names, known := l[schema.GroupKind{Group: o.Group, Kind: o.Kind}]
	child, exists = names[o.Name]
	return child, exists, known
}

// WriteJSON writes the trace as JSON, indented unless it is to be one line. Its
// strings hold nothing that a terminal might obey.
func (t *Trace) WriteJSON(w io.Writer, oneLine bool) error {
	encode := json.Marshal
	if !oneLine {
		encode = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "  ") }
	}
	data, err := encode(t)
	if err != nil {
		return fmt.Errorf("cannot encode the trace: %w", err)
	}
	if _, err := w.Write(append(terminal.CleanJSON(data), '\n')); err != nil {
		return fmt.Errorf("cannot write the trace: %w", err)
	}
	return nil
}

// Verdict says what a Trace means for one who waits.
type Verdict int

// The verdicts.
const (
	// Pending is not Ready yet; Truss goes on, retriable errors included.
	Pending Verdict = iota
	// Succeeded is Ready in the generation of the spec.
	Succeeded
	// Failed needs a person: Truss does not try again by itself.
	Failed
)

// Verdict returns Pending for a Bundle that is being deleted.
func (t *Trace) Verdict() Verdict {
	switch {
	case t.Stale:
		return Pending
	case t.State == Ready:
		return Succeeded
	case t.State == Error && !t.Retrying:
		return Failed
	}
	return Pending
}

// Finished returns the trace of a Bundle whose deletion t has seen, now that it
// does not exist any more.
func (t *Trace) Finished() *Trace {
	out := *t
	out.State, out.Message, out.Done = Gone, "deleted with all its objects", t.Total
	out.ToDelete = nil
	out.Nodes = slices.Clone(t.Nodes)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		n.State, n.BlockedBy, n.Child = Gone, nil, Child{}
	}
	return &out
}
