package writer

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// plane is the control plane of the tests in this package that need one; nil
// where it was not built.
var plane *controlplane.Plane

func TestMain(m *testing.M) {
	os.Exit(controlplanetest.Main(m, controlplane.Options{}, func(p *controlplane.Plane) {
		plane = p
		if p == nil {
			return
		}
		if err := p.Apply(context.Background(), []byte(thingCRD)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}))
}

// thingCRD serves a kind of two versions that takes any spec.
const thingCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.writer.example.com}
spec:
  group: writer.example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: &any {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
  - {name: v2, served: true, storage: false, schema: *any}
`
