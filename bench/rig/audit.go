package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// trussAgent is how the user agent of the manager begins.
const trussAgent = "truss/"

// Request is what is read of a line of the audit log.
type Request struct {
	Verb      string
	UserAgent string
	ObjectRef struct{ Namespace, Name, Resource, Subresource string }

	RequestURI string
}

// String is "verb resource[/subresource]", without names, so that requests of
// a sort are equal.
func (r *Request) String() string {
	resource := r.ObjectRef.Resource
	if r.ObjectRef.Subresource != "" {
		resource += "/" + r.ObjectRef.Subresource
	}
	if resource == "" {
		resource, _, _ = strings.Cut(r.RequestURI, "?")
	}
	return r.Verb + " " + resource
}

// aside says whether a request costs nothing once it is open, or keeps a
// lease: what a settled Truss may do. Reviews are questions about rights and
// tokens, asked for those who read metrics.
func (r *Request) aside() bool {
	o := r.ObjectRef.Resource
	return r.Verb == "watch" || strings.Contains(r.RequestURI, "watch=") || o == "leases" || strings.HasSuffix(o, "reviews")
}

// Counts are requests of the manager by sort.
type Counts map[string]int

// Reads returns how many read something.
func (c Counts) Reads() int { return c.sum(func(verb string) bool { return !writes(verb) }) }

// Writes returns how many change something.
func (c Counts) Writes() int { return c.sum(writes) }

// Of returns how many concern a resource, subresources included.
func (c Counts) Of(resource string) int {
	n := 0
	for sort, count := range c {
		_, what, _ := strings.Cut(sort, " ")
		if what == resource || strings.HasPrefix(what, resource+"/") {
			n += count
		}
	}
	return n
}

// String lists the sorts, sorted.
func (c Counts) String() string {
	out := make([]string, 0, len(c))
	for sort, n := range c {
		out = append(out, fmt.Sprintf("%d %s", n, sort))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (c Counts) sum(counts func(verb string) bool) int {
	n := 0
	for sort, count := range c {
		if verb, _, _ := strings.Cut(sort, " "); counts(verb) {
			n += count
		}
	}
	return n
}

func writes(verb string) bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, verb)
}

// Mark remembers the end of the audit log. All requests answered so far are
// before it.
func (r *Rig) Mark() (int64, error) {
	info, err := os.Stat(r.Plane.AuditLogPath())
	if err != nil {
		return 0, fmt.Errorf("cannot find the audit log: %w", err)
	}
	return info.Size(), nil
}

// Since counts what the manager asked since a mark, but for watches, leases and
// reviews; with a namespace only what is about objects in it.
func (r *Rig) Since(mark int64, namespace string) (Counts, error) {
	f, err := os.Open(r.Plane.AuditLogPath())
	if err != nil {
		return nil, fmt.Errorf("cannot open the audit log: %w", err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(mark, io.SeekStart); err != nil {
		return nil, fmt.Errorf("cannot read the audit log: %w", err)
	}
	return count(f, namespace)
}

func count(log io.Reader, namespace string) (Counts, error) {
	out := Counts{}
	lines := bufio.NewReaderSize(log, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return out, nil // a line that is being written is not answered yet
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the audit log: %w", err)
		}
		var q Request
		if err := json.Unmarshal(line, &q); err != nil {
			return nil, fmt.Errorf("cannot read a line of the audit log: %w", err)
		}
		if strings.HasPrefix(q.UserAgent, trussAgent) && !q.aside() && (namespace == "" || q.ObjectRef.Namespace == namespace) {
			out[q.String()]++
		}
	}
}

// How long nobody may have asked the API server anything for it to be calm, and
// how long that is waited for: some of its own loops never rest for long.
const (
	calmFor    = 250 * time.Millisecond
	calmWithin = 10 * time.Second
)

// Calm waits until the API server has had nothing to do for a moment, so that a
// run does not pay for the cleaning up of the one before.
func (r *Rig) Calm(ctx context.Context) error {
	end := time.Now().Add(calmWithin)
	var last int64
	since := time.Now()
	return every(ctx, lookEvery, func() bool {
		now, err := r.Mark()
		if err != nil || now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) >= calmFor || time.Now().After(end)
	})
}
