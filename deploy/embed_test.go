package deploy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"
)

// The validation of the API server includes the estimated cost of CEL rules
// and the requirements on structural schemas.
func TestCRDsPassTheAPIServersValidation(t *testing.T) {
	for _, crd := range decode(t) {
		t.Run(crd.Name, func(t *testing.T) {
			apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
			apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
			crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
			internal := &apiextensions.CustomResourceDefinition{}
			if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
				t.Fatalf("cannot convert: %v", err)
			}
			if errs := validation.ValidateCustomResourceDefinition(t.Context(), internal); len(errs) != 0 {
				t.Errorf("the API server would refuse the CRD: %v", errs.ToAggregate())
			}
		})
	}
}

func TestCRDsCanBeNodesOfAnotherGraph(t *testing.T) {
	for _, crd := range decode(t) {
		t.Run(crd.Name, func(t *testing.T) {
			got := map[string]string{}
			for key, value := range crd.Annotations {
				if key != "controller-gen.kubebuilder.io/version" {
					got[key] = value
				}
			}
			want := map[string]string{
				"smith.atlassian.com/SupportEnabled":        "true",
				"smith.atlassian.com/CrReadyWhenFieldPath":  `{$.status.conditions[?(@.type=="Ready")].status}`,
				"smith.atlassian.com/CrReadyWhenFieldValue": "True",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("N33: readiness annotations differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCRDsShowProgressAndExplainTheirFields(t *testing.T) {
	for _, crd := range decode(t) {
		t.Run(crd.Name, func(t *testing.T) {
			version := crd.Spec.Versions[0]
			if version.Subresources == nil || version.Subresources.Status == nil {
				t.Error("no status subresource: each status write would bump the generation")
			}
			if len(version.AdditionalPrinterColumns) < 3 {
				t.Errorf("kubectl get shows too little: %v", version.AdditionalPrinterColumns)
			}
			if !slices.Contains(crd.Spec.Names.Categories, "truss") {
				t.Errorf("kubectl get truss leaves it out: %v", crd.Spec.Names.Categories)
			}
			undescribed(t, "", version.Schema.OpenAPIV3Schema)
		})
	}
}

func undescribed(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for name, property := range schema.Properties {
		if property.Description == "" && path+name != "metadata" {
			t.Errorf("kubectl explain says nothing about %s%s", path, name)
		}
		undescribed(t, path+name+".", &property)
		if property.Items != nil && property.Items.Schema != nil {
			undescribed(t, path+name+"[].", property.Items.Schema)
		}
	}
}

func decode(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	documents, err := CRDs()
	if err != nil || len(documents) == 0 {
		t.Fatalf("no CRDs are embedded: %v", err)
	}
	out := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(documents))
	for _, document := range documents {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(document, crd); err != nil {
			t.Fatalf("cannot decode an embedded CRD: %v", err)
		}
		out = append(out, crd)
	}
	return out
}
