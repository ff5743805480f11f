package writer

import (
	"errors"
	"fmt"
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
// come as 403. Messages about Secrets are cut to what holds no values.
func Classify(id resource.Identity, err error) *Failure { return classify("write", id, err) }

// classify is Classify for the operation that failed: write or delete.
func classify(verb string, id resource.Identity, err error) *Failure {
	if known, ok := errors.AsType[*Failure](err); ok {
		return known
	}
	if invalid, ok := errors.AsType[*resource.InvalidError](err); ok {
		return &Failure{Class: Terminal, Reason: invalid.Reason, Message: invalid.Error(), Err: err}
	}
	f := &Failure{Err: err}
	f.Class, f.Reason = classOf(id, err)
	f.Message = message(verb, id, f.Reason, err)
	return f
}

func classOf(id resource.Identity, err error) (Class, string) {
	text := err.Error()
	switch {
	case tooLarge(err, text):
		return Terminal, ReasonTooLarge
	case meta.IsNoMatchError(err):
		return Waiting, ReasonKindUnknown
	case deniedByAdmission(text):
		return Denied, ReasonAdmissionDenied
	case apierrors.IsForbidden(err):
		return classOfForbidden(err, text)
	case apierrors.IsInvalid(err):
		return classOfInvalid(err)
	case strings.Contains(text, "failed to create typed patch object"):
		return Terminal, ReasonInvalid // server-side apply says with 500 what a POST says with 400
	case apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err), apierrors.IsNotAcceptable(err), apierrors.IsUnsupportedMediaType(err):
		return Terminal, ReasonInvalid
	case apierrors.IsConflict(err):
		if strings.Contains(text, "uid mismatch") || strings.Contains(text, "deleted and then recreated") {
			return Retriable, ReasonReplaced
		}
		return Retriable, ReasonConflict
	case apierrors.IsNotFound(err):
		return classOfNotFound(id, err)
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

// deniedByAdmission recognises policies and webhooks, which may change their
// mind. They choose the code: 400 for a webhook that names none, 422 for a
// policy that names none.
func deniedByAdmission(text string) bool {
	return strings.Contains(text, "ValidatingAdmissionPolicy") && strings.Contains(text, "denied request") ||
		strings.Contains(text, "admission webhook") && strings.Contains(text, "denied the request")
}

// classOfInvalid tells a bad object from 422 on metadata.uid, which means the
// object was replaced and has to be observed again.
func classOfInvalid(err error) (Class, string) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return Terminal, ReasonInvalid
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

// immutable knows the words in which kinds say that a field cannot change.
func immutable(c metav1.StatusCause) bool {
	for _, words := range []string{"immutable", "may not change", "cannot change", "updates to "} {
		if strings.Contains(c.Message, words) {
			return true
		}
	}
	return false
}

// classOfNotFound tells what is missing: the namespace, the object that a
// patch was for, or the path.
func classOfNotFound(id resource.Identity, err error) (Class, string) {
	switch {
	case strings.Contains(err.Error(), "namespaces ") && id.Kind != "Namespace":
		return Waiting, ReasonNamespaceMissing
	case goneByName(err, id):
		return Retriable, ReasonReplaced
	}
	return Waiting, ReasonKindUnknown
}

func message(verb string, id resource.Identity, reason string, err error) string {
	if id.Group == "" && id.Kind == "Secret" {
		return worded(verb, id, reason, withoutValues(reason, err))
	}
	return worded(verb, id, reason, err.Error())
}

// worded adds what it is about and what helps.
func worded(verb string, id resource.Identity, reason, text string) string {
	if remedy := remedies[reason]; remedy != "" {
		text += " (" + remedy + ")"
	}
	return fmt.Sprintf("cannot %s %s: %s", verb, id, text)
}

// withoutValues is what may be said of an error about a Secret: the API server,
// policies and webhooks may quote values.
func withoutValues(reason string, err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err.Error() // of the transport, which knows no values
	}
	switch reason {
	case ReasonInvalid, ReasonImmutableField:
		return invalidFields(err)
	case ReasonAdmissionDenied:
		by, _, _ := strings.Cut(err.Error(), " denied ")
		return by + " denied it"
	case ReasonServerError:
		return fmt.Sprintf("the API server answered %d %s", status.Status().Code, status.Status().Reason)
	}
	return err.Error()
}

// invalidFields names the fields of an invalid object, without their values.
func invalidFields(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return "the object is not valid"
	}
	if len(status.Status().Details.Causes) == 0 {
		return "the object is not valid"
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
