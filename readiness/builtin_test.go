package readiness

import "testing"

// A kindCase judges one object of a built-in kind.
type kindCase struct {
	reason, object string
	related        Related
	want           verdict
}

func runKinds(t *testing.T, cases map[string]kindCase) {
	t.Helper()
	e := NewEvaluator()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			obj := object(t, c.object)
			rules := RulesForBuiltin(obj.GroupVersionKind().GroupKind())
			checkVerdict(t, c.reason, c.want, e.Evaluate(obj, rules, c.related))
			checkVerdict(t, "nil rules are those of a built-in kind", c.want, e.Evaluate(obj, nil, c.related))
		})
	}
}

const deploymentStatus = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, generation: 2}
spec: {replicas: 2, progressDeadlineSeconds: 600}
status:
`

// N01: the rows of Smith's table that had no test, in all their forms.
func TestSmithsKindsAreJudged(t *testing.T) {
	runKinds(t, map[string]kindCase{
		"ConfigMap":           {reason: "always ready", object: "{apiVersion: v1, kind: ConfigMap}", want: verdict{status: Ready, reason: ReasonExists, message: "ConfigMap"}},
		"Secret":              {reason: "always ready", object: "{apiVersion: v1, kind: Secret}", want: verdict{status: Ready, reason: ReasonExists}},
		"Service":             {reason: "always ready", object: "{apiVersion: v1, kind: Service, spec: {type: ClusterIP}}", want: verdict{status: Ready, reason: ReasonExists}},
		"ServiceAccount":      {reason: "always ready", object: "{apiVersion: v1, kind: ServiceAccount}", want: verdict{status: Ready, reason: ReasonExists}},
		"Ingress":             {reason: "the address is not awaited", object: "{apiVersion: networking.k8s.io/v1, kind: Ingress, status: {loadBalancer: {}}}", want: verdict{status: Ready, reason: ReasonExists}},
		"PodDisruptionBudget": {reason: "always ready", object: "{apiVersion: policy/v1, kind: PodDisruptionBudget}", want: verdict{status: Ready, reason: ReasonKstatusCurrent}},
		"S97 Deployment": {
			reason: "all replicas updated and available",
			object: deploymentStatus + `
  observedGeneration: 2
  replicas: 2
  updatedReplicas: 2
  readyReplicas: 2
  availableReplicas: 2
  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]`,
			want: verdict{status: Ready, reason: ReasonKstatusCurrent, message: "Deployment"},
		},
		"DeploymentLag": {
			reason: "the ready status is of generation 1",
			object: deploymentStatus + `
  observedGeneration: 1
  replicas: 2
  updatedReplicas: 2
  readyReplicas: 2
  availableReplicas: 2
  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]`,
			want: verdict{reason: ReasonStaleGeneration, message: "status.observedGeneration is 1, behind metadata.generation 2"},
		},
		"S98 DeploymentDeadline": {
			reason: "the progress deadline is exceeded",
			object: deploymentStatus + `
  observedGeneration: 2
  conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]`,
			want: verdict{status: Failed, reason: "KstatusProgressDeadlineExceeded", message: "Progress deadline exceeded"},
		},
		"DeploymentUpdating": {
			reason: "one replica is of the old template",
			object: deploymentStatus + `
  observedGeneration: 2
  replicas: 2
  updatedReplicas: 1`,
			want: verdict{reason: "KstatusLessUpdated", message: "Updated: 1/2"},
		},
		"Autoscaler": {
			reason: "able and active",
			object: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, status: {conditions: [{type: AbleToScale, status: "True"}, {type: ScalingActive, status: "True"}]}}`,
			want:   verdict{status: Ready, reason: ReasonScaling},
		},
		"AutoscalerLag": {
			reason: "its status is of an older generation",
			object: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {generation: 3}, status: {observedGeneration: 2, conditions: [{type: AbleToScale, status: "True"}, {type: ScalingActive, status: "True"}]}}`,
			want:   verdict{reason: ReasonStaleGeneration},
		},
		"AutoscalerUnable": {
			reason: "AbleToScale=False is a failure",
			object: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, status: {conditions: [{type: AbleToScale, status: "False", reason: FailedGetScale, message: "no such target"}]}}`,
			want:   verdict{status: Failed, reason: ReasonScaling, message: "no such target"},
		},
		"AutoscalerInactive": {
			reason: "ScalingActive=False waits",
			object: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, status: {conditions: [{type: AbleToScale, status: "True"}, {type: ScalingActive, status: "False", reason: ScalingDisabled}]}}`,
			want:   verdict{reason: ReasonScaling, message: "ScalingDisabled"},
		},
		"AutoscalerNew": {
			reason: "no conditions yet",
			object: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler}`,
			want:   verdict{reason: ReasonScaling, message: "no condition AbleToScale yet"},
		},
	})
}

// N01: the rows of Service Catalog.
func TestServiceCatalogKindsAreJudged(t *testing.T) {
	instance := func(conditions string) string {
		return "{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, status: {conditions: [" + conditions + "]}}"
	}
	runKinds(t, map[string]kindCase{
		"Ready":        {reason: "Ready=True", object: instance(`{type: Ready, status: "True"}`), want: verdict{status: Ready, reason: ReasonReadyCondition}},
		"Provisioning": {reason: "a reason that means progress", object: instance(`{type: Ready, status: "False", reason: Provisioning}`), want: verdict{reason: ReasonReadyCondition}},
		"S06 Propagated": {
			reason: "any other reason is a failure and its text is shown",
			object: instance(`{type: Ready, status: "False", reason: ProvisionCallFailed, message: "no quota"}`),
			want:   verdict{status: Failed, reason: ReasonReadyCondition, message: "(ProvisionCallFailed): no quota"},
		},
		"Failed":  {reason: "no Ready condition and Failed=True", object: instance(`{type: Failed, status: "True", reason: Gone}`), want: verdict{status: Failed, reason: ReasonReadyCondition}},
		"New":     {reason: "no condition", object: instance(""), want: verdict{reason: ReasonReadyCondition, message: "no condition Ready yet"}},
		"Unknown": {reason: "Unknown waits", object: instance(`{type: Ready, status: Unknown}`), want: verdict{reason: ReasonReadyCondition}},
		"Lag": {
			reason: "the status is of an older generation",
			object: `{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceInstance, metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}}`,
			want:   verdict{reason: ReasonStaleGeneration},
		},
	})
}

func TestServiceBindingIsReadyOnceItsSecretExists(t *testing.T) {
	e := NewEvaluator()
	binding := object(t, `{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, spec: {secretName: creds}, status: {conditions: [{type: Ready, status: "True"}]}}`)
	rules := RulesForBuiltin(binding.GroupVersionKind().GroupKind())
	there := false
	related := Related{OutputExists: func(kind, name string) (bool, bool) { return there && kind == "Secret" && name == "creds", true }}
	checkVerdict(t, "Smith looked for the Secret too", verdict{reason: ReasonOutputMissing, message: `"creds"`}, e.Evaluate(binding, rules, related))
	there = true
	checkVerdict(t, "the Secret is the output", verdict{status: Ready, reason: ReasonReadyCondition, output: &Output{Kind: "Secret", Name: "creds"}}, e.Evaluate(binding, rules, related))
	failing := object(t, `{apiVersion: servicecatalog.k8s.io/v1beta1, kind: ServiceBinding, status: {conditions: [{type: Ready, status: "False", reason: Whatever}]}}`)
	checkVerdict(t, "Ready=False of a binding always waits", verdict{reason: ReasonReadyCondition}, e.Evaluate(failing, rules, related))
}
