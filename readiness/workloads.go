package readiness

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func workloadOverlay(kind string) kindRule {
	switch kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet":
		return observed
	}
	return nil
}

// observed closes a gap of kstatus: with zero replicas, or OnDelete, an object
// that no controller has seen counts as current there.
func observed(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	if valueAt(obj.Object, "status", "observedGeneration") != nil {
		return Result{}, false
	}
	return inProgress(ReasonNotObserved, obj.GetKind()+" has no status.observedGeneration: its controller has not seen it yet"), true
}

// replicationController is a kind kstatus has no rule for.
func replicationController(obj *unstructured.Unstructured, rel Related) (Result, bool) {
	if r, decided := observed(obj, rel); decided {
		return r, true
	}
	want, ok := integer(valueAt(obj.Object, "spec", "replicas"))
	if !ok {
		want = 1
	}
	have, _ := integer(valueAt(obj.Object, "status", "readyReplicas"))
	message := fmt.Sprintf("ReplicationController has %d of %d replicas ready", have, want)
	if have < want {
		return inProgress(ReasonScaling, message), true
	}
	return ready(ReasonScaling, message), true
}

// job closes two gaps of kstatus: a running Job is not Ready, and a suspended
// one waits whether or not it was ever started. A suspended Job is not Ready,
// since queueing systems suspend what shall run later.
func job(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	if c, found := conditionOf(obj.Object, "Complete"); found && c.status == "True" {
		return ready(ReasonJobComplete, "Job is complete"), true
	}
	if c, found := conditionOf(obj.Object, "Failed"); found && c.status == "True" {
		return failed(ReasonJobFailed, "Job: "+c.says("Failed")), true
	}
	if suspended, _ := valueAt(obj.Object, "spec", "suspend").(bool); suspended {
		return inProgress(ReasonJobSuspended, "Job is suspended: it is Ready when complete, or with "+ReadyWhen+": Exists"), true
	}
	active, _ := integer(valueAt(obj.Object, "status", "active"))
	succeeded, _ := integer(valueAt(obj.Object, "status", "succeeded"))
	failures, _ := integer(valueAt(obj.Object, "status", "failed"))
	return inProgress(ReasonJobRunning, fmt.Sprintf("Job is not complete: %d active, %d succeeded, %d failed pods", active, succeeded, failures)), true
}

// pod replaces kstatus's rule, which takes a failed Pod for current and asks
// the clock how long a Pod may stay unschedulable: without a clock it waits.
func pod(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	phase := textAt(obj.Object, "status", "phase")
	switch phase {
	case "Succeeded":
		return ready(ReasonPodPhase, "Pod has succeeded"), true
	case "Failed":
		return failed(ReasonPodPhase, podFailure(obj)), true
	}
	if phase == "Running" && isTrue(obj.Object, "Ready") {
		return ready(ReasonPodPhase, "Pod is running and ready"), true
	}
	if names := crashLooping(obj.Object); len(names) > 0 {
		return failed(ReasonCrashLoop, "Pod has containers in CrashLoopBackOff: "+strings.Join(names, ", ")), true
	}
	if c, _ := conditionOf(obj.Object, "PodScheduled"); c.status == "False" && c.reason == ReasonUnschedulable {
		return inProgress(ReasonUnschedulable, "Pod: "+c.says("PodScheduled")), true
	}
	return inProgress(ReasonPodPhase, fmt.Sprintf("Pod is not ready, phase %q", truncate(phase, 40))), true
}

func podFailure(obj *unstructured.Unstructured) string {
	text := "Pod has failed"
	if reason := textAt(obj.Object, "status", "reason"); reason != "" {
		text += " (" + truncate(reason, 100) + ")"
	}
	if message := textAt(obj.Object, "status", "message"); message != "" {
		text += ": " + message
	}
	return text
}

// crashLooping lists containers that restart over and over, sorted.
func crashLooping(obj map[string]any) []string {
	var names []string
	for _, field := range []string{"containerStatuses", "initContainerStatuses"} {
		for _, item := range listAt(obj, "status", field) {
			container, _ := item.(map[string]any)
			if textAt(container, "state", "waiting", "reason") == ReasonCrashLoop {
				names = append(names, textAt(container, "name"))
			}
		}
	}
	slices.Sort(names)
	return names
}
