package executor

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
		if err := p.Apply(context.Background(), []byte(binderCRD), []byte(bondCRD)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}))
}

// A Binder is ready when a Bond that it owns names an output Secret.
const binderCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: binders.executor.example.com
  annotations:
    smith.atlassian.com/CrReadyWhenExistsKind: Bond
    smith.atlassian.com/CrReadyWhenExistsVersion: executor.example.com/v1
    smith.atlassian.com/CrOutputNameField: "{$.spec.secretName}"
    truss.dev/output-kind: Secret
spec:
  group: executor.example.com
  scope: Namespaced
  names: {plural: binders, singular: binder, kind: Binder, listKind: BinderList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

const bondCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bonds.executor.example.com}
spec:
  group: executor.example.com
  scope: Namespaced
  names: {plural: bonds, singular: bond, kind: Bond, listKind: BondList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`
