package writer

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph/resource"
)

// answer is an error of the API server as client-go gives it.
func answer(code int, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
		Details: &metav1.StatusDetails{Kind: "configmaps", Name: "a", Causes: causes},
	}}
}

func cause(field, message string) metav1.StatusCause {
	return metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: message}
}

var missingNamespace = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound, Message: `namespaces "shop" not found`,
	Details: &metav1.StatusDetails{Kind: "namespaces", Name: "shop"},
}}

func TestErrorsAreSortedByWhatHelps(t *testing.T) {
	const (
		forbidden = metav1.StatusReasonForbidden
		invalid   = metav1.StatusReasonInvalid
		conflict  = metav1.StatusReasonConflict
		notFound  = metav1.StatusReasonNotFound
	)
	pathNotServed := answer(404, notFound, "the server could not find the requested resource",
		metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"})
	cases := map[string]struct {
		reason string
		err    error
		class  Class
		want   string
	}{
		"Etcd":            {"Fact 1: etcd's limit comes as 500 without a reason", answer(500, "", "etcdserver: request is too large"), Terminal, ReasonTooLarge},
		"GRPC":            {"Fact 1: gRPC's limit comes as 500", answer(500, "", "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2900337 vs. 2097152)"), Terminal, ReasonTooLarge},
		"Body":            {"Fact 1: the API server's limit comes as 413", answer(413, metav1.StatusReasonRequestEntityTooLarge, "limit is 3145728"), Terminal, ReasonTooLarge},
		"UIDApply":        {"Fact 2: apply to an object that is another now", answer(422, invalid, "is invalid", cause("metadata.uid", "field is immutable")), Retriable, ReasonReplaced},
		"UIDGone":         {"Fact 2: apply to an object that is gone", answer(409, conflict, "uid mismatch: the provided object specified uid x, and no existing object was found"), Retriable, ReasonReplaced},
		"NamespaceGoes":   {"Fact 6: 403 by cause", answer(403, forbidden, "is forbidden", metav1.StatusCause{Type: corev1.NamespaceTerminatingCause}), Waiting, ReasonNamespaceTerminating},
		"Quota":           {"Fact 6: 403 by text", answer(403, forbidden, `exceeded quota: q, requested: configmaps=1`), Denied, ReasonQuotaExceeded},
		"KindGoes":        {"Fact 6: 403 by text", answer(403, forbidden, "create not allowed while custom resource definition is terminating"), Waiting, ReasonKindTerminating},
		"RBAC":            {"Fact 6: 403 by text", answer(403, forbidden, `User "x" cannot create resource "configmaps" in API group "" in the namespace "y"`), Denied, ReasonForbidden},
		"Impersonation":   {"The namespace has not opted in", answer(403, forbidden, `serviceaccounts "d" is forbidden: User "m" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "y"`), Denied, ReasonImpersonationForbidden},
		"OtherForbidden":  {"Any other 403 is admission", answer(403, forbidden, "violates PodSecurity"), Denied, ReasonAdmissionDenied},
		"Webhook400":      {"A webhook that names no code denies with 400: it may change its mind", answer(400, "", `admission webhook "w.example.com" denied the request: no`), Denied, ReasonAdmissionDenied},
		"Webhook403":      {"The same, with a code", answer(403, forbidden, `admission webhook "w.example.com" denied the request: no`), Denied, ReasonAdmissionDenied},
		"Webhook422":      {"The same, with another", answer(422, invalid, `admission webhook "w.example.com" denied the request: no`), Denied, ReasonAdmissionDenied},
		"WebhookDown":     {"A webhook that is down comes back", answer(500, metav1.StatusReasonInternalError, `failed calling webhook "w.example.com"`), Retriable, ReasonServerError},
		"Policy":          {"A policy comes as 422 and may change", answer(422, invalid, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"), Denied, ReasonAdmissionDenied},
		"Recreated":       {"Fact 7", answer(409, conflict, "the object might have been deleted and then recreated"), Retriable, ReasonReplaced},
		"Conflict":        {"Somebody was faster", answer(409, conflict, "the object has been modified"), Retriable, ReasonConflict},
		"LostAnswer":      {"Fact 10: a lost answer looks like nothing sent", fmt.Errorf("Post: %w", io.EOF), Retriable, ReasonServerError},
		"Throttled":       {"429", answer(429, metav1.StatusReasonTooManyRequests, "later"), Retriable, ReasonThrottled},
		"Unavailable":     {"503", answer(503, metav1.StatusReasonServiceUnavailable, "x"), Retriable, ReasonServerError},
		"Timeout":         {"504", answer(504, metav1.StatusReasonTimeout, "x"), Retriable, ReasonServerError},
		"Unauthorized":    {"401: tokens are renewed", answer(401, metav1.StatusReasonUnauthorized, "x"), Retriable, ReasonServerError},
		"Invalid":         {"Only the author can mend it", answer(422, invalid, "is invalid", cause("spec.x", "Required value")), Terminal, ReasonInvalid},
		"BadRequest":      {"Only the author can mend it", answer(400, metav1.StatusReasonBadRequest, "unable to decode"), Terminal, ReasonInvalid},
		"Typed":           {"Server-side apply says with 500 what POST says with 400", answer(500, "", `failed to create typed patch object (x/a; /v1, Kind=ConfigMap): .data.x: expected string, got &value.valueUnstructured{Value:1}`), Terminal, ReasonInvalid},
		"Immutable":       {"A field that cannot change", answer(422, invalid, "is invalid", cause("data", "field is immutable when `immutable` is set")), Terminal, ReasonImmutableField},
		"ImmutableSet":    {"Services word it in another way", answer(422, invalid, "is invalid", cause("spec.clusterIPs[0]", "Invalid value: may not change once set")), Terminal, ReasonImmutableField},
		"ImmutableSTS":    {"StatefulSets too", answer(422, invalid, "is invalid", cause("spec", "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden")), Terminal, ReasonImmutableField},
		"ImmutablePod":    {"Pods too", answer(422, invalid, "is invalid", cause("spec", "Forbidden: pod updates may not change fields other than `spec.containers[*].image`")), Terminal, ReasonImmutableField},
		"ImmutableRole":   {"Role bindings too", answer(422, invalid, "is invalid", cause("roleRef", "Invalid value: cannot change roleRef")), Terminal, ReasonImmutableField},
		"ImmutableClass":  {"Storage classes too", answer(422, invalid, "is invalid", cause("parameters", "Forbidden: updates to parameters are forbidden.")), Terminal, ReasonImmutableField},
		"NamespaceAbsent": {"A namespace may come", missingNamespace, Waiting, ReasonNamespaceMissing},
		"ObjectGone":      {"A patch that finds nothing: look again", answer(404, notFound, `configmaps "a" not found`), Retriable, ReasonReplaced},
		"PathNotServed":   {"A path that is not served may be", pathNotServed, Waiting, ReasonKindUnknown},
		"NoMatch":         {"A kind may come", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "X"}}, Waiting, ReasonKindUnknown},
		"Known":           {"A Failure stays what it is, wrapped too", fmt.Errorf("x: %w", fail(Waiting, ReasonTerminating, "y")), Waiting, ReasonTerminating},
		"Author":          {"Bad input keeps its reason", &resource.InvalidError{Reason: "R", Message: "m"}, Terminal, "R"},
		"Wrapped":         {"Wrapping hides nothing", fmt.Errorf("nothing was written: %w", answer(403, forbidden, "exceeded quota: q")), Denied, ReasonQuotaExceeded},
	}
	id := resource.Identity{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Classify(id, tc.err)
			if got.Class != tc.class || got.Reason != tc.want {
				t.Errorf("%s: Classify() = %d %s, want %d %s", tc.reason, got.Class, got.Reason, tc.class, tc.want)
			}
			if !errors.Is(got, tc.err) && !errors.Is(tc.err, got) {
				t.Error("the cause is lost")
			}
		})
	}
}

func TestMessagesSayWhatHelps(t *testing.T) {
	id := resource.Identity{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	f := Classify(id, answer(http.StatusForbidden, metav1.StatusReasonForbidden, "exceeded quota: q"))
	for _, part := range []string{"ConfigMap shop/a", "exceeded quota: q", remedies[ReasonQuotaExceeded]} {
		if !strings.Contains(f.Message, part) {
			t.Errorf("message %q lacks %q", f.Message, part)
		}
	}
}

func TestSecretValuesAreInNoMessage(t *testing.T) {
	id := resource.Identity{Kind: "Secret", Namespace: "shop", Name: "a"}
	for name, err := range map[string]error{
		"Invalid":    answer(422, metav1.StatusReasonInvalid, `data[k]: Invalid value: "hunter2"`, cause("data[k]", `Invalid value: "hunter2"`)),
		"BadRequest": answer(400, metav1.StatusReasonBadRequest, `cannot be handled as a Secret: "hunter2"`),
		"Typed":      answer(500, "", `failed to create typed patch object: .stringData.k: expected string, got &value.valueUnstructured{Value:"hunter2"}`),
		"Server":     answer(500, metav1.StatusReasonInternalError, `Internal error: hunter2`),
		"Webhook":    answer(400, "", `admission webhook "w" denied the request: hunter2 is too short`),
		"Policy":     answer(422, metav1.StatusReasonInvalid, `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: hunter2`),
	} {
		if f := Classify(id, err); strings.Contains(f.Message, "hunter2") {
			t.Errorf("%s: message %q holds a value", name, f.Message)
		}
	}
	f := Classify(id, answer(403, metav1.StatusReasonForbidden, `User "x" cannot create resource "secrets" in API group "" in the namespace "y"`))
	if !strings.Contains(f.Message, "cannot create resource") {
		t.Errorf("message %q hides the missing right, which is no value", f.Message)
	}
}
