package readiness

import "testing"

// The gaps of kstatus, as a run of it showed them.
func TestOverlayClosesTheGapsOfKstatus(t *testing.T) {
	runKinds(t, map[string]kindCase{
		"RunningJob": {
			reason: "kstatus takes a running Job for current",
			object: `{apiVersion: batch/v1, kind: Job, status: {startTime: "2024-01-01T00:00:00Z", active: 1}}`,
			want:   verdict{reason: ReasonJobRunning, message: "1 active"},
		},
		"CompleteJob": {
			reason: "complete", object: `{apiVersion: batch/v1, kind: Job, spec: {suspend: false}, status: {conditions: [{type: Complete, status: "True"}]}}`,
			want: verdict{status: Ready, reason: ReasonJobComplete},
		},
		"FailedJob": {
			reason: "failed, with its text", object: `{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded}]}}`,
			want: verdict{status: Failed, reason: ReasonJobFailed, message: "BackoffLimitExceeded"},
		},
		"SuspendedJob": {
			reason: "suspended is not complete", object: `{apiVersion: batch/v1, kind: Job, spec: {suspend: true}, status: {conditions: [{type: Suspended, status: "True"}]}}`,
			want: verdict{reason: ReasonJobSuspended, message: "suspended"},
		},
		"NewJob":    {reason: "not started", object: `{apiVersion: batch/v1, kind: Job}`, want: verdict{reason: ReasonJobRunning}},
		"CronJob":   {reason: "a schedule is ready at once", object: `{apiVersion: batch/v1, kind: CronJob}`, want: verdict{status: Ready, reason: ReasonKstatusCurrent}},
		"FailedPod": {reason: "kstatus takes a failed Pod for current", object: `{apiVersion: v1, kind: Pod, status: {phase: Failed, reason: Evicted}}`, want: verdict{status: Failed, reason: ReasonPodPhase, message: "Evicted"}},
		"DonePod":   {reason: "succeeded", object: `{apiVersion: v1, kind: Pod, status: {phase: Succeeded}}`, want: verdict{status: Ready, reason: ReasonPodPhase}},
		"ReadyPod":  {reason: "running and ready", object: `{apiVersion: v1, kind: Pod, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`, want: verdict{status: Ready, reason: ReasonPodPhase}},
		"NewPod":    {reason: "no phase", object: `{apiVersion: v1, kind: Pod}`, want: verdict{reason: ReasonPodPhase}},
		"CrashingPod": {
			reason: "a container crashes over and over",
			object: `{apiVersion: v1, kind: Pod, status: {phase: Running, containerStatuses: [{name: b, state: {waiting: {reason: CrashLoopBackOff}}}, 7, {name: a, state: {waiting: {reason: CrashLoopBackOff}}}]}}`,
			want:   verdict{status: Failed, reason: ReasonCrashLoop, message: "a, b"},
		},
		"UnschedulablePod": {
			reason: "the verdict does not depend on the clock",
			object: `{apiVersion: v1, kind: Pod, metadata: {creationTimestamp: "2001-01-01T00:00:00Z"}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes"}]}}`,
			want:   verdict{reason: ReasonUnschedulable, message: "0/3 nodes"},
		},
		"LoadBalancerWithoutIngress": {
			reason: "a cluster IP is not enough", object: `{apiVersion: v1, kind: Service, spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: {loadBalancer: {}}}`,
			want: verdict{reason: ReasonLoadBalancer, message: "ingress"},
		},
		"LoadBalancer": {
			reason: "an address is there", object: `{apiVersion: v1, kind: Service, spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}}`,
			want: verdict{status: Ready, reason: ReasonLoadBalancer},
		},
		"APIServiceDown": {
			reason: "kstatus takes it for current", object: `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, status: {conditions: [{type: Available, status: "False", reason: MissingEndpoints}]}}`,
			want: verdict{reason: ReasonAvailable, message: "MissingEndpoints"},
		},
		"APIServiceNew": {reason: "no condition", object: `{apiVersion: apiregistration.k8s.io/v1, kind: APIService}`, want: verdict{reason: ReasonNotObserved}},
		"APIServiceUp":  {reason: "available", object: `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, status: {conditions: [{type: Available, status: "True"}]}}`, want: verdict{status: Ready, reason: ReasonAvailable}},
		"EmptyStatefulSet": {
			reason: "kstatus takes one with zero replicas that no controller saw for current",
			object: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 2}, spec: {replicas: 0}}`,
			want:   verdict{reason: ReasonNotObserved},
		},
		"ZeroStatefulSet": {
			reason: "seen, and zero replicas are wanted", object: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 2}, spec: {replicas: 0}, status: {observedGeneration: 2, replicas: 0}}`,
			want: verdict{status: Ready, reason: ReasonKstatusCurrent},
		},
		"OnDeleteStatefulSet": {
			reason: "kstatus does not look at the status of these at all", object: `{apiVersion: apps/v1, kind: StatefulSet, spec: {updateStrategy: {type: OnDelete}}}`,
			want: verdict{reason: ReasonNotObserved},
		},
		"DaemonSet": {
			reason: "every node has its pod",
			object: `{apiVersion: apps/v1, kind: DaemonSet, metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1, numberReady: 1}}`,
			want:   verdict{status: Ready, reason: ReasonKstatusCurrent},
		},
		"ReplicationController": {
			reason: "kstatus has no rule for it", object: `{apiVersion: v1, kind: ReplicationController, spec: {replicas: 2}, status: {observedGeneration: 1, readyReplicas: 1}}`,
			want: verdict{reason: ReasonScaling, message: "1 of 2"},
		},
		"CRDInstalling":  {reason: "not established yet", object: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}`, want: verdict{reason: "KstatusInstalling"}},
		"CRDEstablished": {reason: "established", object: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: Established, status: "True"}]}}`, want: verdict{status: Ready, reason: ReasonKstatusCurrent}},
		"CRDRefused":     {reason: "its names are taken", object: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: NamesAccepted, status: "False", reason: MultipleNames}]}}`, want: verdict{status: Failed, reason: "KstatusMultipleNames"}},
		"Role":           {reason: "kinds without a status are ready once they exist", object: `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role}`, want: verdict{status: Ready, reason: ReasonExists}},
		"FailedVolume":   {reason: "a phase that says Failed is taken at its word", object: `{apiVersion: v1, kind: PersistentVolume, status: {phase: Failed}}`, want: verdict{status: Failed, reason: ReasonStatusFailed}},
		"Namespace":      {reason: "active", object: `{apiVersion: v1, kind: Namespace, status: {phase: Active}}`, want: verdict{status: Ready, reason: ReasonExists}},
		"NamespaceGoing": {reason: "terminating", object: `{apiVersion: v1, kind: Namespace, status: {phase: Terminating}}`, want: verdict{reason: ReasonNamespacePhase}},
		"TextGeneration": {reason: "kstatus fails on a text", object: `{apiVersion: agg.example.com/v1, kind: Thing, metadata: {generation: 4}, status: {observedGeneration: "4"}}`, want: verdict{status: Ready, reason: ReasonExists}},
		"TextLag":        {reason: "and a text can lag", object: `{apiVersion: agg.example.com/v1, kind: Thing, metadata: {generation: 4}, status: {observedGeneration: "3"}}`, want: verdict{reason: ReasonStaleGeneration, message: `"3"`}},
		"Stalled":        {reason: "kstatus's own condition", object: `{apiVersion: agg.example.com/v1, kind: Thing, status: {conditions: [{type: Stalled, status: "True", reason: Stuck}]}}`, want: verdict{status: Failed, reason: ReasonStalled}},
		"Reconciling":    {reason: "kstatus's other condition", object: `{apiVersion: agg.example.com/v1, kind: Thing, status: {conditions: [{type: Reconciling, status: "True"}, {type: Ready, status: "True"}]}}`, want: verdict{reason: ReasonReconciling}},
		"Unreadable":     {reason: "a status of another shape waits, whatever kstatus does with it", object: `{apiVersion: apps/v1, kind: Deployment, status: {observedGeneration: 1, conditions: nonsense}}`, want: verdict{reason: ReasonStatusUnreadable}},
	})
}

func TestVolumeClaimWaitingForItsConsumerDoesNotBlock(t *testing.T) {
	class := func(waits, known bool) Related {
		return Related{WaitsForConsumer: func(string) (bool, bool) { return waits, known }}
	}
	pending := `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: late}, status: {phase: Pending}}`
	runKinds(t, map[string]kindCase{
		"Unknown":       {reason: "no sign of a provisioner: blocking could last for ever", object: pending, want: verdict{status: Ready, reason: ReasonFirstConsumer}},
		"KnownLate":     {reason: "the class binds late", object: pending, related: class(true, true), want: verdict{status: Ready, reason: ReasonFirstConsumer}},
		"KnownAtOnce":   {reason: "the class binds at once", object: pending, related: class(false, true), want: verdict{reason: ReasonNotBound}},
		"ClassUnread":   {reason: "the class may not be read", object: pending, related: class(false, false), want: verdict{status: Ready, reason: ReasonFirstConsumer}},
		"Provisioning":  {reason: "a provisioner is at work", object: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {annotations: {volume.kubernetes.io/storage-provisioner: csi}}, spec: {storageClassName: c}, status: {phase: Pending}}`, want: verdict{reason: ReasonNotBound}},
		"NodeSelected":  {reason: "its consumer is there", object: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {annotations: {volume.kubernetes.io/selected-node: n1}}, spec: {storageClassName: c}, status: {phase: Pending}}`, want: verdict{reason: ReasonNotBound}},
		"WithoutClass":  {reason: "only a volume made by hand can satisfy it", object: `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: ""}, status: {phase: Pending}}`, want: verdict{reason: ReasonNotBound}},
		"VolumeNamed":   {reason: "its volume is chosen", object: `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: c, volumeName: v}, status: {phase: Pending}}`, want: verdict{reason: ReasonNotBound}},
		"Bound":         {reason: "bound", object: `{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Bound}}`, want: verdict{status: Ready, reason: ReasonBound}},
		"Lost":          {reason: "its volume is gone", object: `{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Lost}}`, want: verdict{status: Failed, reason: ReasonVolumeLost}},
		"WithoutStatus": {reason: "not accepted yet", object: `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {storageClassName: c}}`, want: verdict{reason: ReasonNotBound}},
	})
}
