package bundle

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/truss-dev/truss/bundle/v1"
)

// ReasonDeleting is why a Bundle that is being deleted is InProgress.
const ReasonDeleting = "Deleting"

// Teardown is how far the deletion of a Bundle's objects got.
type Teardown struct {
	// Observed is the generation of the Bundle.
	Observed int64
	// Total is the number of objects, Left those that are not gone yet.
	Total int
	Left  []v1.ObjectToDelete
	// Failed says that somebody has to help; Reason and Message say why it
	// waits.
	Failed          bool
	Reason, Message string
	// SpecSize is as in Report.
	SpecSize int
}

// Deleting projects a teardown onto the API: the Bundle is InProgress until
// all objects are gone, and in Error while one cannot be deleted. The objects
// left are listed as objectsToDelete.
func Deleting(prev *v1.BundleStatus, t Teardown, now time.Time) v1.BundleStatus {
	if prev == nil {
		prev = &v1.BundleStatus{}
	}
	gone := t.Total - len(t.Left)
	p := &projection{
		report: &Report{Observed: t.Observed, ToDelete: t.Left, SpecSize: t.SpecSize},
		prev:   prev, now: metav1.NewTime(now.Truncate(time.Second)),
	}
	message := fmt.Sprintf("deleted %d of %d objects", gone, t.Total)
	if t.Message != "" {
		message += ": " + t.Message
	}
	reason := ReasonRetriableError
	if t.Reason != "" {
		reason = t.Reason
	}
	s := v1.BundleStatus{
		ObservedGeneration: t.Observed,
		Conditions: p.timed([]metav1.Condition{
			condition(v1.ConditionInProgress, true, ReasonDeleting, cut(message)),
			condition(v1.ConditionReady, false, ReasonDeleting, ""),
			condition(v1.ConditionError, t.Failed, reason, cut(t.Message)),
		}, prev.Conditions),
		Message:  cut(message),
		Progress: strconv.Itoa(gone) + "/" + strconv.Itoa(t.Total),
	}
	p.fill(&s)
	return s
}
