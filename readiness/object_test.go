package readiness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object reads YAML the way Kubernetes does, integers as int64.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("cannot read test object: %v\n%s", err, text)
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(data); err != nil {
		t.Fatalf("cannot read test object: %v\n%s", err, text)
	}
	return obj
}

// crd builds a CRD of widgets.example.com with the given annotations, one per
// line, and version v1 with status and its subresource.
func crd(t testing.TB, annotations string) *unstructured.Unstructured {
	t.Helper()
	lines := ""
	for line := range strings.Lines(annotations) {
		lines += "    " + strings.TrimSpace(line) + "\n"
	}
	return object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
  annotations:
    keep: me
`+lines+`
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {conditions: {type: array}}}}}}
  - name: v1plain
    served: true
    schema: {openAPIV3Schema: {type: object, properties: {status: {type: object}}}}
  - name: v1bare
    served: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
  - name: v0
    served: false
`)
}

// rulesOf derives the rules of one version of crd.
func rulesOf(t testing.TB, version, annotations string) *Rules {
	t.Helper()
	rules, err := RulesFromCRD(crd(t, annotations), version)
	if err != nil {
		t.Fatalf("RulesFromCRD: %v", err)
	}
	return rules
}

// A verdict is the part of a Result that tables state; want of the message is
// a fragment.
type verdict struct {
	status  Status
	reason  string
	message string
	broken  bool
	output  *Output
}

func checkVerdict(t *testing.T, reason string, want verdict, got Result) {
	t.Helper()
	have := verdict{status: got.Status, reason: got.Reason, message: want.message, broken: got.Broken, output: got.Output}
	if diff := cmp.Diff(want, have, cmp.AllowUnexported(verdict{})); diff != "" {
		t.Errorf("%s: -want +got:\n%s\nmessage: %s", reason, diff, got.Message)
	}
	if got.Message == "" || !strings.Contains(got.Message, want.message) {
		t.Errorf("%s: message %q does not say %q", reason, got.Message, want.message)
	}
}
