package bundle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/resource"
)

// configMap is a resource that holds one ConfigMap with the given data.
func configMap(name, data string, references ...v1.Reference) v1.Resource {
	raw := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":%s}`, name, data)
	return v1.Resource{Name: name, References: references, Spec: v1.ResourceSpec{Object: &runtime.RawExtension{Raw: []byte(raw)}}}
}

func bundleOf(resources ...v1.Resource) *v1.Bundle {
	b := &v1.Bundle{Spec: v1.BundleSpec{Resources: resources}}
	b.Namespace, b.Name = "shop", "shop"
	return b
}

func TestCompileRefusesSpecsThatAreTooLarge(t *testing.T) {
	half := `{"a":"` + strings.Repeat("x", 512<<10) + `"}`
	_, err := Compile(bundleOf(configMap("a", half), configMap("b", half)))
	var invalid *resource.InvalidError
	if !errors.As(err, &invalid) || invalid.Reason != ReasonTooLarge || !strings.Contains(invalid.Message, "split") {
		t.Errorf("a spec over 1 MiB leaves no room for its status: %v", err)
	}
	if _, err := Compile(bundleOf(configMap("a", half))); err != nil {
		t.Errorf("half of it is fine: %v", err)
	}
}

func TestSpecSizeIsCloseToJSON(t *testing.T) {
	b := bundleOf(
		configMap("a", `{"k":"v"}`),
		configMap("b", `{"k":"!{x}"}`, v1.Reference{Name: "x", Resource: "a", Path: "data.k", Example: &apiextensionsv1.JSON{Raw: []byte(`"e"`)}}),
	)
	exact := sizeOf(b.Spec)
	if got := SpecSize(b); got < exact*9/10 || got > exact*13/10 {
		t.Errorf("estimate %d, JSON %d", got, exact)
	}
}

func TestCompileLeavesTheBundleAsItIs(t *testing.T) {
	b := bundleOf(configMap("a", `{"k":"!!{x}"}`), configMap("b", `{"k":"!{x}"}`, v1.Reference{Name: "x", Resource: "a", Path: "data.k"}))
	before := b.DeepCopy()
	if _, err := Compile(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, b); diff != "" {
		t.Errorf("Bundles come from a cache and must not change (-before +after):\n%s", diff)
	}
}

func TestCompileFindsPlaceholdersHoweverTheyAreEncoded(t *testing.T) {
	for _, spelling := range []string{`!{x}`, `\u0021{x}`, `!\u007bx}`, `\u0021\u007B\u0078}`} {
		_, err := Compile(bundleOf(configMap("a", `{"k":"`+spelling+`"}`)))
		invalid, ok := errors.AsType[*resource.InvalidError](err)
		if !ok || invalid.Reason != ReasonUndeclaredReference {
			t.Errorf("%s in JSON is a reference like any other: %v", spelling, err)
		}
	}
}

func TestCompileAcceptsTypedObjects(t *testing.T) {
	b := bundleOf(v1.Resource{Name: "inner", Spec: v1.ResourceSpec{Object: &runtime.RawExtension{Object: &v1.Bundle{}}}})
	_, err := Compile(b)
	var invalid *resource.InvalidError
	if !errors.As(err, &invalid) || invalid.Field != "spec.resources[0].spec.object.apiVersion" {
		t.Errorf("N33: an object built in Go is decoded like any other: %v", err)
	}
}

func TestCompileGivesTheSameProblemsEachTime(t *testing.T) {
	b := bundleOf(
		configMap("b", `{"z":"!{z}","a":"!{a}","m":"!{m}"}`),
		configMap("a", `{}`, v1.Reference{Resource: "b"}),
		configMap("b", `{}`, v1.Reference{Resource: "nope"}, v1.Reference{Name: "x", Resource: "a"}),
	)
	_, first := Compile(b)
	for range 50 {
		if _, err := Compile(b); err.Error() != first.Error() {
			t.Fatalf("S54: same input, other message:\n%v\n%v", first, err)
		}
	}
}

func TestIdentityTellsVersionsFromObjects(t *testing.T) {
	before := bundleOf(v1.Resource{Name: "a", Spec: v1.ResourceSpec{Object: &runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"name":"a"}}`),
	}}})
	after := before.DeepCopy()
	after.Spec.Resources[0].Spec.Object.Raw = []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}`)
	g1, err1 := Compile(before)
	g2, err2 := Compile(after)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	one, two := g1.At(0).Payload, g2.At(0).Payload
	if one.Identity != two.Identity || one.Version == two.Version {
		t.Errorf("N16: another version must be the same object: %v %s, %v %s", one.Identity, one.Version, two.Identity, two.Version)
	}
}

func TestNodesOfBundlesRequireSupport(t *testing.T) {
	g, err := Compile(bundleOf(configMap("a", `{}`)))
	if err != nil {
		t.Fatal(err)
	}
	if n := g.At(0); !n.Payload.RequireSupport || n.Weight != 1 || n.Payload.Template == nil {
		t.Errorf("S31: kinds of a Bundle must be opted in, each node weighs 1: %+v", n)
	}
}
