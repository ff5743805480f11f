package readiness

import "strings"

// A Status says where an object is on its way to Ready. The zero value is
// InProgress, so that a forgotten decision never releases a dependant.
type Status uint8

// The statuses of an object.
const (
	// InProgress means not ready yet; more events are expected.
	InProgress Status = iota
	// Ready means dependants may go on.
	Ready
	// Failed means the object itself reports failure. It is no verdict
	// for ever: the next event is judged anew.
	Failed
)

// String gives the status as it appears in conditions.
func (s Status) String() string {
	switch s {
	case Ready:
		return "Ready"
	case Failed:
		return "Failed"
	default:
		return "InProgress"
	}
}

// The reasons of a Result. Workload failures found by kstatus keep kstatus's
// own reason (for example LessReady) behind the prefix "Kstatus".
const (
	ReasonNotFound        = "NotFound"
	ReasonTerminating     = "Terminating"
	ReasonStaleGeneration = "ObservedGenerationStale"
	ReasonNotObserved     = "NotObserved"

	ReasonExists     = "Exists"
	ReasonExpression = "Expression"

	ReasonFieldValue     = "FieldValue"
	ReasonAmbiguousField = "AmbiguousField"
	ReasonOwnedExists    = "OwnedObjectExists"
	ReasonOwnedMissing   = "OwnedObjectMissing"
	ReasonOwnedUnknown   = "OwnedObjectUnknown"

	ReasonOutputMissing   = "OutputMissing"
	ReasonOutputUnknown   = "OutputUnknown"
	ReasonAmbiguousOutput = "AmbiguousOutput"
	ReasonInvalidOutput   = "InvalidOutputName"

	ReasonInvalidRule      = "InvalidRule"
	ReasonNoReadinessRule  = "NoReadinessRule"
	ReasonReadyCondition   = "ReadyCondition"
	ReasonStalled          = "Stalled"
	ReasonReconciling      = "Reconciling"
	ReasonStatusFailed     = "StatusFailed"
	ReasonValuesRead       = "ValuesRead"
	ReasonKstatusCurrent   = "KstatusCurrent"
	ReasonKstatusPrefix    = "Kstatus"
	ReasonStatusUnreadable = "StatusUnreadable"

	ReasonJobComplete    = "JobComplete"
	ReasonJobRunning     = "JobRunning"
	ReasonJobSuspended   = "JobSuspended"
	ReasonJobFailed      = "JobFailed"
	ReasonPodPhase       = "PodPhase"
	ReasonCrashLoop      = "CrashLoopBackOff"
	ReasonUnschedulable  = "Unschedulable"
	ReasonLoadBalancer   = "LoadBalancerIngress"
	ReasonAvailable      = "Available"
	ReasonBound          = "Bound"
	ReasonNotBound       = "NotBound"
	ReasonFirstConsumer  = "WaitsForFirstConsumer"
	ReasonVolumeLost     = "VolumeLost"
	ReasonScaling        = "Scaling"
	ReasonNamespacePhase = "NamespacePhase"
)

// A Result is the verdict on one object.
type Result struct {
	// Status is the verdict.
	Status Status
	// Reason is one CamelCase word for machines: a Reason constant or
	// ReasonKstatusPrefix with kstatus's reason.
	Reason string
	// Message is one line that names the rule which decided and what it saw.
	Message string
	// Output is the object's output object, set only when it exists.
	Output *Output
	// Broken says that a rule itself is wrong and waiting will not help: the
	// node shows an error instead of waiting silently.
	Broken bool
}

// An Output identifies an output object in the namespace of its object.
type Output struct {
	// Kind is "Secret" or "ConfigMap".
	Kind string
	// Name is the object's name.
	Name string
}

// maxMessage bounds messages, which may quote a controller's text.
const maxMessage = 600

func ready(reason, message string) Result {
	return Result{Status: Ready, Reason: reason, Message: oneLine(message)}
}

func inProgress(reason, message string) Result {
	return Result{Reason: reason, Message: oneLine(message)}
}

func failed(reason, message string) Result {
	return Result{Status: Failed, Reason: reason, Message: oneLine(message)}
}

func broken(reason, message string) Result {
	return Result{Reason: reason, Message: oneLine(message), Broken: true}
}

// oneLine makes s valid UTF-8 on one line of bounded length.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if strings.ContainsAny(s, "\n\r\t") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return truncate(s, maxMessage)
}

// truncate cuts s to at most limit bytes at a rune boundary.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
