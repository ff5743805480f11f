package observer

import (
	"context"
	"slices"
	"time"
)

// Filter chooses requests; each field that is set narrows it.
type Filter struct {
	// Users sent the request or were impersonated; empty means Options.Users.
	Users []string
	// Since and Until bound when the API server received it.
	Since, Until time.Time
	// Verbs, Namespace, Group, Resource and Name say what it is about. Group
	// counts only together with Resource.
	Verbs                            []string
	Namespace, Group, Resource, Name string
}

// Call is a kind of request.
type Call struct {
	Verb, Group, Resource, Subresource string
	DryRun                             bool
}

// Counts are numbers of requests by kind.
type Counts map[Call]int

// Total is their sum.
func (c Counts) Total() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// Verb is the number of requests with a verb for a resource, subresources and
// dry runs left out.
func (c Counts) Verb(verb, group, resource string) int {
	return c[Call{Verb: verb, Group: group, Resource: resource}]
}

// Requests counts Truss's requests, and those of others that wrote a new
// object or deleted one, that were read from the log so far: call Settle
// before. Watches are counted when they end.
func (o *Observer) Requests(f Filter) Counts {
	counts := Counts{}
	for _, r := range o.find(f) {
		counts[Call{r.Verb, r.Group, r.Resource, r.Subresource, r.DryRun}]++
	}
	return counts
}

// RequestsBy lists what users sent since a time, watches and leases left out,
// in the order in which it was completed: call Settle before. Without users it
// is what Truss sent.
func (o *Observer) RequestsBy(since time.Time, users ...string) []Request {
	return slices.DeleteFunc(o.find(Filter{Users: users, Since: since}), func(r Request) bool { return !r.counted() })
}

// Quiet is invariant S12: it waits for a window and gives what Truss sent in
// it. A settled graph sends nothing but watches and renewals of leases, also
// over resyncs and after a restart.
func (o *Observer) Quiet(ctx context.Context, window time.Duration) ([]Request, error) {
	if err := o.Settle(ctx); err != nil {
		return nil, err
	}
	since := time.Now()
	if err := pause(ctx, window); err != nil {
		return nil, err
	}
	if err := o.Settle(ctx); err != nil {
		return nil, err
	}
	return o.RequestsBy(since), nil
}

func (o *Observer) find(f Filter) []Request {
	o.history.mu.Lock()
	defer o.history.mu.Unlock()
	var out []Request
	for _, r := range o.history.requests {
		if f.matches(r) {
			out = append(out, *r)
		}
	}
	return out
}

func (f *Filter) matches(r *Request) bool {
	switch {
	case len(f.Users) == 0 && !r.own,
		len(f.Users) > 0 && !slices.Contains(f.Users, r.User) && !slices.Contains(f.Users, r.As),
		!f.Since.IsZero() && r.Received.Before(f.Since),
		!f.Until.IsZero() && !r.Received.Before(f.Until),
		len(f.Verbs) > 0 && !slices.Contains(f.Verbs, r.Verb),
		f.Namespace != "" && r.Namespace != f.Namespace,
		f.Resource != "" && (r.Resource != f.Resource || r.Group != f.Group),
		f.Name != "" && r.Name != f.Name:
		return false
	}
	return true
}
