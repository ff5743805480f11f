package writer

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/graph/resource"
)

// Class says what follows from an error.
type Class uint8

// The classes of errors, in the words of the design.
const (
	// Retriable: conflicts, throttling, timeouts, lost acknowledgements.
	Retriable Class = iota
	// Waiting: something that is not there yet or is going away.
	Waiting
	// Denied: RBAC, admission or quota; tried again slowly, and shown in full.
	Denied
	// Terminal for this generation.
	Terminal
)

// Reasons of failures, shown in conditions, events and metrics.
const (
	ReasonTooLarge               = "TooLarge"
	ReasonInvalid                = "Invalid"
	ReasonImmutableField         = "ImmutableField"
	ReasonCollision              = "Collision"
	ReasonClusterScoped          = "ClusterScoped"
	ReasonForeignNamespace       = "ForeignNamespace"
	ReasonRBACRefused            = "RBACRefused"
	ReasonNamespaceTerminating   = "NamespaceTerminating"
	ReasonNamespaceMissing       = "NamespaceMissing"
	ReasonKindTerminating        = "KindTerminating"
	ReasonKindUnknown            = "KindUnknown"
	ReasonQuotaExceeded          = "QuotaExceeded"
	ReasonForbidden              = "Forbidden"
	ReasonAdmissionDenied        = "AdmissionDenied"
	ReasonImpersonationForbidden = "ImpersonationForbidden"
	ReasonConflict               = "Conflict"
	ReasonReplaced               = "Replaced"
	ReasonThrottled              = "Throttled"
	ReasonServerError            = "ServerError"
	ReasonNotConverging          = "NotConverging"
	ReasonTerminating            = "Terminating"
	ReasonFieldConflict          = "FieldConflict"
	ReasonAdoptionRefused        = "AdoptionRefused"
	ReasonSecretData             = "SecretData"
)

// Failure is why a write did not happen or did not stay.
type Failure struct {
	Class   Class
	Reason  string
	Message string
	Err     error
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

func fail(class Class, reason, format string, args ...any) *Failure {
	return &Failure{Class: class, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Classify sorts an error of the API server. Codes mislead, so causes and
// texts are looked at: an object that is too large comes as 413 or as 500, a
// terminating namespace, a terminating kind, quota, RBAC and admission all
// come as 403. Messages about Secrets are cut to the reason, since the API
// server may quote values in them.
func Classify(id resource.Identity, err error) *Failure {
	var known *Failure
	if errors.As(err, &known) {
		return known
	}
	var invalid *resource.InvalidError
	if errors.As(err, &invalid) {
		return &Failure{Class: Terminal, Reason: invalid.Reason, Message: invalid.Error(), Err: err}
	}
	f := &Failure{Err: err}
	f.Class, f.Reason = classOf(err)
	f.Message = message(id, f.Reason, err)
	return f
}

func classOf(err error) (Class, string) {
	text := err.Error()
	switch {
	case tooLarge(err, text):
		return Terminal, ReasonTooLarge
	case meta.IsNoMatchError(err):
		return Waiting, ReasonKindUnknown
	case apierrors.IsForbidden(err):
		return classOfForbidden(err, text)
	case apierrors.IsInvalid(err):
		return classOfInvalid(err)
	case apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err), apierrors.IsUnsupportedMediaType(err):
		return Terminal, ReasonInvalid
	case apierrors.IsConflict(err):
		if strings.Contains(text, "uid mismatch") || strings.Contains(text, "deleted and then recreated") {
			return Retriable, ReasonReplaced
		}
		return Retriable, ReasonConflict
	case apierrors.IsNotFound(err):
		return classOfNotFound(text)
	case apierrors.IsTooManyRequests(err):
		return Retriable, ReasonThrottled
	}
	return Retriable, ReasonServerError
}

func tooLarge(err error, text string) bool {
	return apierrors.IsRequestEntityTooLargeError(err) ||
		strings.Contains(text, "request is too large") ||
		strings.Contains(text, "larger than max")
}

func classOfForbidden(err error, text string) (Class, string) {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return Waiting, ReasonNamespaceTerminating
	case strings.Contains(text, "definition is terminating"):
		return Waiting, ReasonKindTerminating
	case strings.Contains(text, "exceeded quota"):
		return Denied, ReasonQuotaExceeded
	case strings.Contains(text, "cannot impersonate"):
		return Denied, ReasonImpersonationForbidden
	case strings.Contains(text, " cannot ") && strings.Contains(text, "in API group"):
		return Denied, ReasonForbidden
	}
	return Denied, ReasonAdmissionDenied
}

// classOfInvalid tells a denial by policy, which may change, from a bad
// object, which may not; and 422 on metadata.uid, which means the object was
// replaced and has to be observed again.
func classOfInvalid(err error) (Class, string) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		if strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
			return Denied, ReasonAdmissionDenied
		}
		return Terminal, ReasonInvalid
	}
	text := err.Error()
	if strings.Contains(text, "ValidatingAdmissionPolicy") || strings.Contains(text, "admission webhook") {
		return Denied, ReasonAdmissionDenied
	}
	reason := ReasonInvalid
	for _, c := range status.Status().Details.Causes {
		if c.Field == "metadata.uid" {
			return Retriable, ReasonReplaced
		}
		if immutable(c) {
			reason = ReasonImmutableField
		}
	}
	return Terminal, reason
}

func immutable(c metav1.StatusCause) bool {
	return strings.Contains(c.Message, "immutable") || strings.Contains(c.Message, "updates to statefulset spec for fields other than")
}

func classOfNotFound(text string) (Class, string) {
	if strings.Contains(text, "namespaces ") {
		return Waiting, ReasonNamespaceMissing
	}
	return Waiting, ReasonKindUnknown
}

func message(id resource.Identity, reason string, err error) string {
	remedy := remedies[reason]
	text := err.Error()
	if id.Group == "" && id.Kind == "Secret" && apierrors.IsInvalid(err) {
		text = invalidFields(err)
	}
	if remedy == "" {
		return fmt.Sprintf("cannot write %s: %s", id, text)
	}
	return fmt.Sprintf("cannot write %s: %s (%s)", id, text, remedy)
}

// invalidFields names the fields of an invalid object, without their values.
func invalidFields(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return http.StatusText(http.StatusUnprocessableEntity)
	}
	var fields []string
	for _, c := range status.Status().Details.Causes {
		fields = append(fields, fmt.Sprintf("%s (%s)", c.Field, c.Type))
	}
	return "invalid fields: " + strings.Join(fields, ", ")
}

var remedies = map[string]string{
	ReasonTooLarge:             "an object may have about 1.5 MiB: split it, or keep the content elsewhere",
	ReasonImmutableField:       "the field cannot change: annotate the object with truss.dev/on-immutable: recreate to replace it, or set the field back",
	ReasonNamespaceTerminating: "the namespace is being deleted",
	ReasonNamespaceMissing:     "create the namespace",
	ReasonKindTerminating:      "its CRD is being deleted; goes on when it is back",
	ReasonKindUnknown:          "waits until its CRD or API service is installed",
	ReasonQuotaExceeded:        "raise the quota or free some of it; tried again by itself",
	ReasonForbidden:            "grant the right to the account that writes; tried again by itself",
	ReasonAdmissionDenied:      "an admission policy or webhook refused it; tried again by itself",
}
