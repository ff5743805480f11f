package observer

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
)

// auditEvent is what is read of an audit.k8s.io/v1 Event.
type auditEvent struct {
	Stage            string
	RequestURI       string
	Verb             string
	User             auditUser
	ImpersonatedUser *auditUser
	UserAgent        string
	ObjectRef        struct{ APIGroup, APIVersion, Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct{ Code int }

	RequestReceivedTimestamp, StageTimestamp time.Time
	RequestObject, ResponseObject            json.RawMessage
}

type auditUser struct{ Username string }

// parse reads a line. It gives nil for a stage that is not the request's last.
func parse(line []byte, users map[string]bool) (*Request, error) {
	var e auditEvent
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("cannot read audit event: %w", err)
	}
	if e.Stage == "RequestReceived" || e.Stage == "ResponseStarted" {
		return nil, nil
	}
	r := &Request{
		Received: e.RequestReceivedTimestamp, Completed: e.StageTimestamp,
		User: e.User.Username, Agent: e.UserAgent, Verb: e.Verb, URI: e.RequestURI, Code: e.ResponseStatus.Code,
		Group: e.ObjectRef.APIGroup, Version: e.ObjectRef.APIVersion, Resource: e.ObjectRef.Resource,
		Subresource: e.ObjectRef.Subresource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		own: users[e.User.Username],
	}
	if e.ImpersonatedUser != nil {
		r.As = e.ImpersonatedUser.Username
		r.own = r.own || users[r.As]
	}
	if r.Group == "" && r.Resource == "namespaces" {
		r.Namespace = "" // the API server gives a namespace its own name here
	}
	if _, query, found := strings.Cut(r.URI, "?"); found {
		values, _ := url.ParseQuery(query) // what cannot be read is not there
		r.DryRun, r.Manager = values.Get("dryRun") != "", values.Get("fieldManager")
	}
	if r.writes() {
		r.body = readBody(r.Verb, e.RequestObject, e.ResponseObject)
	}
	return r, nil
}

// sent is what is read of the body of a write: an object, a partial object or
// DeleteOptions.
type sent struct {
	Metadata      sentMetadata
	Preconditions struct{ UID types.UID }
	// Details are those of the Status that answers a DELETE.
	Details struct{ UID types.UID }
}

type sentMetadata struct {
	UID             types.UID
	ResourceVersion string
	Labels          map[string]*string
	Annotations     map[string]*string
}

func readBody(verb string, request, response json.RawMessage) body {
	var b body
	if len(request) > 0 {
		b = readRequest(verb, request)
	}
	var answer sent
	if json.Unmarshal(response, &answer) != nil {
		return b
	}
	if uid := answer.Metadata.UID + answer.Details.UID; uid != "" { // one of them at most
		b.uid = uid
	}
	b.rv = version64(answer.Metadata.ResourceVersion)
	return b
}

func readRequest(verb string, request json.RawMessage) body {
	b := body{known: true}
	if request[0] == '[' {
		b.guarded, b.uid = guards(request)
		return b
	}
	var s sent
	if json.Unmarshal(request, &s) != nil {
		return body{}
	}
	if verb == verbDelete {
		b.guarded, b.uid = s.Preconditions.UID != "", s.Preconditions.UID
		return b
	}
	b.guarded = s.Metadata.UID != "" || s.Metadata.ResourceVersion != ""
	b.uid = s.Metadata.UID
	if owner := s.Metadata.Labels[resource.OwnerLabel]; owner != nil {
		b.owner = types.UID(*owner)
	}
	adopt := s.Metadata.Annotations[resource.AdoptAnnotation]
	b.adopts = adopt != nil && adopting(*adopt)
	return b
}

// guards reads a JSON patch: it is guarded by a test of the UID, or by a
// resourceVersion that it sets or tests.
func guards(patch json.RawMessage) (guarded bool, uid types.UID) {
	var operations []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if json.Unmarshal(patch, &operations) != nil {
		return false, ""
	}
	for _, o := range operations {
		switch {
		case o.Path == "/metadata/resourceVersion" && o.Op != "remove":
			guarded = true
		case o.Path == "/metadata/uid" && o.Op == "test":
			guarded = true
			_ = json.Unmarshal(o.Value, &uid) // no string matches no object
		}
	}
	return guarded, uid
}

func adopting(mode string) bool { return mode == "true" || mode == "delete" }

// version64 reads a resourceVersion, which is a revision of etcd; zero when it
// is none.
func version64(rv string) uint64 {
	n, _ := strconv.ParseUint(rv, 10, 64)
	return n
}
