package v1_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/deploy"
)

// server judges Bundles as the API server does: schema, CEL, pruning.
type server struct {
	schema     validation.SchemaValidator
	structural *structuralschema.Structural
	rules      *cel.Validator
}

func newServer(t *testing.T) server {
	t.Helper()
	documents, err := deploy.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(document, crd); err != nil {
			t.Fatal(err)
		}
		if crd.Spec.Group == v1.Group && crd.Spec.Names.Kind == v1.BundleKind {
			return serverOf(t, crd)
		}
	}
	t.Fatal("no CRD for Bundles")
	return server{}
}

func serverOf(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) server {
	t.Helper()
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil); err != nil {
		t.Fatal(err)
	}
	schema, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	return server{schema: schema, structural: structural, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

// admit prunes the object and returns what is wrong with it.
func (s server) admit(t *testing.T, object map[string]any) string {
	t.Helper()
	pruning.Prune(object, s.structural, true)
	errs := validation.ValidateCustomResource(nil, object, s.schema)
	found, _ := s.rules.Validate(t.Context(), field.NewPath(""), s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	errs = append(errs, found...)
	if len(errs) == 0 {
		return ""
	}
	return errs.ToAggregate().Error()
}

func TestTheSchemaAdmitsWhatSmithsDid(t *testing.T) {
	const object = "object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
	cases := map[string]struct {
		reason    string
		resources string
		want      string
	}{
		"Empty": {"Smith: required, may be empty", "[]", ""},
		"Sample": {"Smith's documents: ordering, values, examples of any type, modifiers", `
      [{name: db, spec: {` + object + `}},
       {name: web.b-2, references: [{resource: db}, {name: Host.x, resource: db, path: status.endpoint, example: {a: [1]}},
         {name: pw, resource: db, path: data.password, modifier: bindsecret}, {name: out, resource: db, path: name, modifier: output, example: null}],
        spec: {` + object + `}}]`, ""},
		"Placeholders": {"Labels and other typed metadata may hold references", `[{name: a, spec: {object: {apiVersion: v1, kind: A, metadata: {name: a, labels: {a: "!{x}"}, creationTimestamp: null}}}}]`, ""},
		"NoObject":     {"A plugin of Smith is no object", "[{name: a, spec: {plugin: {name: x}}}]", "object is required"},
		"ListObject":   {"An object is a map", "[{name: a, spec: {object: []}}]", "must be of type object"},
		"NoName":       {"The name is the node's identity", "[{spec: {" + object + "}}]", "name: Required"},
		"UpperName":    {"Names are lower case", "[{name: A, spec: {" + object + "}}]", "should match"},
		"BadReference": {"Reference names are DNS subdomains", `[{name: a, references: [{name: "a_b", resource: a}], spec: {` + object + "}}]", "should match"},
		"Modifier":     {"S40: a modifier that does not exist", `[{name: a, references: [{name: b, resource: a, modifier: x}], spec: {` + object + "}}]", "Unsupported value"},
		"NoResource":   {"A reference refers", `[{name: a, references: [{name: b}], spec: {` + object + "}}]", "resource: Required"},
		"LongPath":     {"Paths are bounded", `[{name: a, references: [{name: b, resource: a, path: "` + strings.Repeat("x", 1025) + `"}], spec: {` + object + "}}]", "may not be more than 1024"},
	}
	s := newServer(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var bundle map[string]any
			text := "apiVersion: smith.atlassian.com/v1\nkind: Bundle\nmetadata: {name: b}\nspec: {resources: " + tc.resources + "}"
			if err := yaml.Unmarshal([]byte(text), &bundle); err != nil {
				t.Fatal(err)
			}
			got := s.admit(t, bundle)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestTheSchemaKeepsEveryFieldOfTheTypes(t *testing.T) {
	condition := []metav1.Condition{{Type: "Ready", Status: "True", Reason: "R", Message: "m", LastTransitionTime: metav1.Unix(1, 0)}}
	b := &v1.Bundle{
		TypeMeta:   metav1.TypeMeta{APIVersion: "smith.atlassian.com/v1", Kind: "Bundle"},
		ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "n"},
		Spec: v1.BundleSpec{
			ServiceAccountName: "runner",
			Resources: []v1.Resource{{
				Name:       "a",
				References: []v1.Reference{{Name: "x", Resource: "a", Path: "p", Example: &apiextensionsv1.JSON{Raw: []byte(`{"deep":[1,null]}`)}, Modifier: "output"}},
				Spec:       v1.ResourceSpec{Object: &runtime.RawExtension{Raw: []byte(`{"any":{"depth":[{"a":9007199254740993}]}}`)}},
			}},
		},
		Status: v1.BundleStatus{
			ObservedGeneration: 3, Message: "m", Progress: "0/1", Conditions: condition,
			Summary:          v1.Summary{Total: 1, Ready: 1, InProgress: 1, Blocked: 1, Error: 1},
			ResourceStatuses: []v1.ResourceStatus{{Name: "a", Conditions: condition}},
			ObjectsToDelete:  []v1.ObjectToDelete{{Group: "g", Version: "v", Kind: "k", Name: "n"}},
		},
	}
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		t.Fatal(err)
	}
	after := runtime.DeepCopyJSON(before)
	if refused := newServer(t).admit(t, after); refused != "" {
		t.Errorf("refused: %s", refused)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the schema prunes fields (-sent +stored):\n%s", diff)
	}
}

func TestBundlesSurviveEncodingAndTheScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if !scheme.Recognizes(v1.BundleGVK) || !scheme.Recognizes(v1.GroupVersion.WithKind("BundleList")) {
		t.Error("the scheme does not know Bundles")
	}
	text := `{"metadata":{},"spec":{"resources":[{"name":"a","spec":{"object":{"n":9007199254740993}}}]}}`
	b := &v1.Bundle{}
	if err := json.Unmarshal([]byte(text), b); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(b.DeepCopy())
	if err != nil || string(data) != text {
		t.Errorf("an empty status or a changed number: %s, %v", data, err)
	}
}
