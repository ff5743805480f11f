package readiness

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func BenchmarkEvaluate(b *testing.B) {
	deployment := deploymentStatus + `
  observedGeneration: 2
  replicas: 2
  updatedReplicas: 2
  readyReplicas: 2
  availableReplicas: 2
  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]`
	widget := "metadata: {name: w, generation: 2}\nstatus: {observedGeneration: 2, state: Ready, conditions: [{type: Synced, status: 'True'}, {type: Ready, status: 'True'}]}"
	filter := strings.ReplaceAll(stateRule, "{$.status.state}", `{$.status.conditions[?(@.type==\"Ready\")].status}`)
	filter = strings.ReplaceAll(filter, "Value: Ready", "Value: 'True'")
	cases := []struct {
		name  string
		obj   *unstructured.Unstructured
		rules *Rules
	}{
		{"ConfigMap", object(b, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: v}}"), nil},
		{"Deployment", object(b, deployment), nil},
		{"CustomWithCondition", widgetObject(b, widget), rulesOf(b, "v1", "")},
		{"CustomWithPath", widgetObject(b, widget), rulesOf(b, "v1", stateRule)},
		{"CustomWithFilter", widgetObject(b, widget), rulesOf(b, "v1", filter)},
		{"CustomWithCEL", withReadyWhen(b, "self.status.state == 'Ready'", widget), rulesOf(b, "v1", "")},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			e := NewEvaluator()
			b.ReportAllocs()
			for b.Loop() {
				if got := e.Evaluate(c.obj, c.rules, Related{}); got.Status != Ready {
					b.Fatalf("%+v", got)
				}
			}
		})
	}
}

func BenchmarkSpecHash(b *testing.B) {
	obj := object(b, deploymentStatus+" {}")
	b.ReportAllocs()
	for b.Loop() {
		SpecHash(obj)
	}
}
