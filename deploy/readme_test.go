package deploy_test

import (
	"os"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/bundle"
	bundlev1 "github.com/truss-dev/truss/bundle/v1"
)

func TestReadmeShowsABundleThatCompiles(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(examples) == 0 {
		t.Fatal("README.md shows no YAML")
	}
	for _, example := range examples {
		var b bundlev1.Bundle
		if err := yaml.UnmarshalStrict(example[1], &b); err != nil {
			t.Fatalf("%v in\n%s", err, example[1])
		}
		b.Namespace = "default"
		if _, err := bundle.Compile(&b); err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
	}
}
