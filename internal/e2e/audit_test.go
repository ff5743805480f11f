package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// request is one line of the audit log.
type request struct {
	Stage      string
	Verb       string
	RequestURI string
	User       struct{ Username string }
	ObjectRef  struct{ Namespace, Name, Resource, Subresource, APIGroup string }
	Received   time.Time `json:"requestReceivedTimestamp"`

	ResponseStatus struct{ Code int }
}

// String is "verb resource[/subresource] name".
func (r *request) String() string {
	resource := r.ObjectRef.Resource
	if r.ObjectRef.Subresource != "" {
		resource += "/" + r.ObjectRef.Subresource
	}
	if resource == "" {
		resource = r.RequestURI
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Verb, resource, r.ObjectRef.Name))
}

// write says whether a request changes something.
func (r *request) write() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb)
}

// mark remembers the end of the audit log: all requests answered so far are
// before it.
func mark(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(plane.AuditLogPath())
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// requests are those that the manager, or an account it impersonates, made
// since a mark, but for watches, leases and events. With a namespace only
// those about objects of it.
func requests(t *testing.T, since int64, namespace string) []request {
	t.Helper()
	f, err := os.Open(plane.AuditLogPath())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(max(0, since-1), io.SeekStart); err != nil {
		t.Fatal(err)
	}
	var out []request
	lines := bufio.NewReaderSize(f, 1<<20)
	if since > 0 { // the end of a line, or of one that was being written then
		_, _ = lines.ReadBytes('\n')
	}
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return out // the rest of a line that is being written comes next time
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("audit log: %v", err)
		}
		if r.User.Username == account && r.counts(namespace) {
			out = append(out, r)
		}
	}
}

func (r *request) counts(namespace string) bool {
	aside := r.Verb == "watch" || r.ObjectRef.Resource == "leases" || r.ObjectRef.Resource == "events" ||
		strings.Contains(r.RequestURI, "watch=")
	return !aside && (namespace == "" || r.ObjectRef.Namespace == namespace)
}

// texts are requests as text, in the order of their arrival.
func texts(all []request) []string {
	slices.SortStableFunc(all, func(a, b request) int { return a.Received.Compare(b.Received) })
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].String()
	}
	return out
}

// writes are those of the requests that change something.
func writes(all []request) []request {
	return slices.DeleteFunc(slices.Clone(all), func(r request) bool { return !r.write() })
}
