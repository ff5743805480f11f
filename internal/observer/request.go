package observer

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Request is one completed request, as the audit log tells it.
type Request struct {
	// Seq is its line in the log, counted from 1.
	Seq int
	// Received and Completed are the API server's times, in microseconds.
	Received, Completed time.Time
	// User sent it; As is whom it impersonated, empty for nobody.
	User, As string
	// Agent is the user agent.
	Agent string
	// Verb is the API server's: get, list, watch, create, update, patch,
	// delete or deletecollection, or the HTTP method in lower case.
	Verb string
	// Group, Version, Resource, Subresource, Namespace and Name say what it
	// is about; all are empty for a URI that names no object.
	Group, Version, Resource, Subresource, Namespace, Name string
	// URI is the path with its query.
	URI string
	// Code is the HTTP status, zero when the log has none.
	Code int
	// DryRun says that nothing was to be written.
	DryRun bool
	// Manager is the field manager that was given.
	Manager string

	own  bool // sent by a user of Truss
	body body
}

// body is what was learned from the bodies of a request, where the audit
// policy logs them.
type body struct {
	known   bool // the request's body is in the log
	guarded bool // it names a UID or a resourceVersion
	uid     types.UID
	rv      uint64    // of the object in the answer
	owner   types.UID // the owner label in the request
	adopts  bool
}

// String tells the request in one line.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s %s", r.Seq, r.Verb, r.target())
	if r.DryRun {
		b.WriteString(" (dry run)")
	}
	fmt.Fprintf(&b, " -> %d by %s", r.Code, r.User)
	if r.As != "" {
		fmt.Fprintf(&b, " as %s", r.As)
	}
	return b.String()
}

func (r *Request) target() string {
	if r.Resource == "" {
		return r.URI
	}
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	if r.Group != "" {
		resource += "." + r.Group
	}
	return resource + " " + r.key().place()
}

func (r *Request) key() key {
	return key{group: r.Group, resource: r.Resource, namespace: r.Namespace, name: r.Name}
}

// succeeded says that the API server did what was asked.
func (r *Request) succeeded() bool { return r.Code >= 200 && r.Code < 300 && !r.DryRun }

// unclear says that the object may have been written although the answer does
// not say so.
func (r *Request) unclear() bool { return (r.Code == 0 || r.Code >= 500) && !r.DryRun }

// creates says that the request made the object, if it succeeded: a POST, or a
// patch or update of an object that was not there.
func (r *Request) creates() bool {
	if r.Subresource != "" || r.Name == "" {
		return false
	}
	return r.Verb == verbCreate || r.Code == 201 && (r.Verb == verbPatch || r.Verb == verbUpdate)
}

// removes says that the request makes objects go, if it succeeded.
func (r *Request) removes() bool {
	switch r.Verb {
	case verbDelete, verbDeleteCollection:
		return r.Subresource == ""
	case verbCreate:
		return r.Subresource == "eviction"
	}
	return false
}

// writes says that the verb changes something.
func (r *Request) writes() bool {
	switch r.Verb {
	case verbCreate, verbPatch, verbUpdate, verbDelete, verbDeleteCollection:
		return true
	}
	return false
}

// counted says that the request costs a settled Truss something: watches and
// the renewal of leases do not count.
func (r *Request) counted() bool {
	return r.Verb != "watch" && !(r.Group == "coordination.k8s.io" && r.Resource == "leases")
}

const (
	verbCreate           = "create"
	verbPatch            = "patch"
	verbUpdate           = "update"
	verbDelete           = "delete"
	verbDeleteCollection = "deletecollection"
)
