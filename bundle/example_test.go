package bundle_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
)

// A Bundle becomes a graph; what is wrong with it is told all at once.
func ExampleCompile() {
	text := `
metadata: {name: shop, namespace: shop}
spec:
  resources:
  - name: web
    references:
    - {name: host, resource: db, path: status.endpoint}
    spec:
      object: {apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {url: "http://!{host}/"}}
  - name: db
    spec:
      object: {apiVersion: db.example.com/v1, kind: Postgres, metadata: {name: db}}
`
	var b v1.Bundle
	if err := yaml.Unmarshal([]byte(text), &b); err != nil {
		fmt.Println(err)
		return
	}
	g, err := bundle.Compile(&b)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range g.Order() {
		fmt.Println(g.At(int(i)).ID, "is", g.At(int(i)).Payload.Identity)
	}
	b.Spec.Resources[0].References[0].Resource = "cache"
	b.Spec.Resources[1].Spec.Object.Raw = []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"x-"}}`)
	_, err = bundle.Compile(&b)
	fmt.Println(err)
	// Output:
	// db is Postgres.db.example.com shop/db
	// web is ConfigMap shop/web
	// spec.resources[0].references[0].resource: resource "web": resource "cache" is not in the Bundle; add it or correct the name
	// spec.resources[1].spec.object.metadata.generateName: resource "db": names must be known before anything is created; write metadata.name instead
}
