package inventory

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph/resource"
)

// Format is the number of the record format written; Decode reads it and the
// one before.
const Format = 1

// MaxCompressed is the largest compressed plan in bytes; an etcd value holds
// 1.5 MiB, of which base64 takes a third.
const MaxCompressed = 900 << 10

// maxPlain bounds what a record may inflate to: records can be forged by
// anyone who may write ControllerRevisions.
const maxPlain = 64 << 20

// maxListed bounds how many objects or kinds a record lists: without it 60 KiB
// of "{}," would decode to gigabytes.
const maxListed = 100_000

// Entry is one object of a plan.
type Entry struct {
	resource.Identity
	// Version the object is written in.
	Version string
	// Resource is the plural; empty while the kind was unknown, and then
	// nothing of this kind was written.
	Resource string
	// Needs are positions in the plan of what this object needs.
	Needs []int32
	// Depth is the longest chain of needs below the object.
	Depth int32
}

// GVR returns the group, version and plural of the entry.
func (e *Entry) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: e.Group, Version: e.Version, Resource: e.Resource}
}

// Plan is a compiled graph as far as taking it down needs it, in author order.
type Plan struct {
	Entries []Entry
}

// NewPlan makes the plan of a graph. plural gives the plural of a node's kind,
// empty when nothing of it can have been written: its kind is not known yet,
// or the owner may not have it. O(V+E).
func NewPlan(g *resource.Graph, plural func(*resource.Node) string) *Plan {
	p := &Plan{Entries: make([]Entry, g.Len())}
	for i := range p.Entries {
		n := &g.At(i).Payload
		p.Entries[i] = Entry{
			Identity: n.Identity,
			Version:  n.Version,
			Resource: plural(n),
			Needs:    g.Needs(i),
			Depth:    int32(g.Depth(i)), //nolint:gosec // bounded by the number of nodes
		}
	}
	return p
}

// wire is the stored form. Kinds are stored once, in order of first use.
type wire struct {
	Kinds   listed[wireKind]  `json:"kinds"`
	Entries listed[wireEntry] `json:"entries"`
}

// listed is a list that refuses to decode more than maxListed elements.
type listed[T any] []T

// UnmarshalJSON decodes element by element, to stop in time.
func (l *listed[T]) UnmarshalJSON(data []byte) error {
	in := json.NewDecoder(bytes.NewReader(data))
	if first, err := in.Token(); err != nil || first == nil {
		return err
	} else if first != json.Delim('[') {
		return fmt.Errorf("want a list, not %v", first)
	}
	*l = nil
	for in.More() {
		if len(*l) == maxListed {
			return fmt.Errorf("it lists over %d objects or kinds", maxListed)
		}
		var element T
		if err := in.Decode(&element); err != nil {
			return err
		}
		*l = append(*l, element)
	}
	return nil
}

type wireKind struct {
	Group    string `json:"g,omitempty"`
	Version  string `json:"v"`
	Kind     string `json:"k"`
	Resource string `json:"r,omitempty"`
}

type wireEntry struct {
	Kind      int     `json:"k"`
	Namespace string  `json:"ns,omitempty"`
	Name      string  `json:"n"`
	Needs     []int32 `json:"d,omitempty"`
	Depth     int32   `json:"l,omitempty"`
}

// Encoded is a plan ready to be stored.
type Encoded struct {
	// Hash names the plan: equal plans have equal hashes.
	Hash string
	// Compressed is the gzipped JSON.
	Compressed []byte
}

// Encode serialises the plan, deterministically. It fails with an
// *resource.InvalidError of reason TooLarge over MaxCompressed, or over the
// number of objects that Decode reads.
func (p *Plan) Encode() (Encoded, error) {
	if len(p.Entries) > maxListed {
		return Encoded{}, &resource.InvalidError{
			Reason:  "TooLarge",
			Message: fmt.Sprintf("the inventory has %d objects, %d are allowed: split the owner in several", len(p.Entries), maxListed),
		}
	}
	plain, err := json.Marshal(p.wire())
	if err != nil {
		return Encoded{}, fmt.Errorf("cannot encode inventory: %w", err)
	}
	sum := sha256.Sum256(plain)
	var buf bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed) // the level is valid
	if _, err := zip.Write(plain); err != nil {
		return Encoded{}, fmt.Errorf("cannot compress inventory: %w", err)
	}
	if err := zip.Close(); err != nil {
		return Encoded{}, fmt.Errorf("cannot compress inventory: %w", err)
	}
	if buf.Len() > MaxCompressed {
		return Encoded{}, &resource.InvalidError{
			Reason: "TooLarge",
			Message: fmt.Sprintf("the inventory of %d objects takes %d bytes compressed, %d are allowed: split the owner in several",
				len(p.Entries), buf.Len(), MaxCompressed),
		}
	}
	return Encoded{Hash: hex.EncodeToString(sum[:5]), Compressed: buf.Bytes()}, nil
}

func (p *Plan) wire() *wire {
	w := &wire{Entries: make([]wireEntry, len(p.Entries))}
	kinds := map[wireKind]int{}
	for i := range p.Entries {
		e := &p.Entries[i]
		k := wireKind{Group: e.Group, Version: e.Version, Kind: e.Kind, Resource: e.Resource}
		n, ok := kinds[k]
		if !ok {
			n = len(w.Kinds)
			kinds[k] = n
			w.Kinds = append(w.Kinds, k)
		}
		w.Entries[i] = wireEntry{Kind: n, Namespace: e.Namespace, Name: e.Name, Needs: e.Needs, Depth: e.Depth}
	}
	return w
}

// Decode reads a stored plan of this format or the one before. Records can be
// written by strangers: every index is checked and the size is bounded.
func Decode(format int64, compressed []byte) (*Plan, error) {
	if format != Format {
		return nil, fmt.Errorf("cannot read inventory of format %d: this version reads format %d; run the version of Truss that wrote it", format, Format)
	}
	zip, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("cannot decompress inventory: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(zip, maxPlain+1))
	if err != nil {
		return nil, fmt.Errorf("cannot decompress inventory: %w", err)
	}
	if len(plain) > maxPlain {
		return nil, fmt.Errorf("cannot read inventory: it inflates to over %d bytes", maxPlain)
	}
	var w wire
	if err := json.Unmarshal(plain, &w); err != nil {
		return nil, fmt.Errorf("cannot decode inventory: %w", err)
	}
	return w.plan()
}

func (w *wire) plan() (*Plan, error) {
	p := &Plan{Entries: make([]Entry, len(w.Entries))}
	for i, e := range w.Entries {
		if e.Kind < 0 || e.Kind >= len(w.Kinds) {
			return nil, fmt.Errorf("cannot decode inventory: entry %d names kind %d of %d", i, e.Kind, len(w.Kinds))
		}
		for _, n := range e.Needs {
			if n < 0 || int(n) >= len(w.Entries) {
				return nil, fmt.Errorf("cannot decode inventory: entry %d needs entry %d of %d", i, n, len(w.Entries))
			}
		}
		k := w.Kinds[e.Kind]
		p.Entries[i] = Entry{
			Identity: resource.Identity{Group: k.Group, Kind: k.Kind, Namespace: e.Namespace, Name: e.Name},
			Version:  k.Version, Resource: k.Resource, Needs: e.Needs, Depth: e.Depth,
		}
	}
	return p, nil
}
