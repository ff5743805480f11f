package observer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/observer"
)

// definition is a CRD of kind Cloud in a group of its own.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clouds.GROUP
  annotations: {ANNOTATIONS}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: clouds, singular: cloud, kind: Cloud, listKind: CloudList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`

// TestRulesOfKindsThatAppearDecide plays Truss with a kind that the observer
// learns of during the run, and whose CRD says when it is Ready.
func TestRulesOfKindsThatAppearDecide(t *testing.T) {
	const (
		byField = `smith.atlassian.com/CrReadyWhenFieldPath: "{.status.state}", smith.atlassian.com/CrReadyWhenFieldValue: Good`
		byOwned = `smith.atlassian.com/CrReadyWhenExistsKind: ConfigMap, smith.atlassian.com/CrReadyWhenExistsVersion: v1`
	)
	for name, c := range map[string]struct {
		group, annotations, reason string
		before                     func(s *stage, uid types.UID, cloud schema.GroupVersionResource)
		want                       []observer.Invariant
	}{
		"field has its value": {"one.test", byField, "the state was Good", func(s *stage, _ types.UID, cloud schema.GroupVersionResource) {
			s.state(cloud, "Good")
		}, nil},
		"field has had its value": {"two.test", byField, "the state was Good once: the gate looks at the past", func(s *stage, _ types.UID, cloud schema.GroupVersionResource) {
			s.state(cloud, "Good")
			s.state(cloud, "Bad")
		}, nil},
		"field has another value": {"three.test", byField, "the state was never Good", func(s *stage, _ types.UID, cloud schema.GroupVersionResource) {
			s.state(cloud, "Bad")
		}, []observer.Invariant{observer.Gate}},
		"owned object exists": {"four.test", byOwned, "a ConfigMap refers to it", func(s *stage, uid types.UID, cloud schema.GroupVersionResource) {
			k := s.child(nil, "k")
			k.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: cloud.GroupVersion().String(), Kind: "Cloud", Name: "a", UID: uid}})
			s.create(s.admin, configMaps, k)
		}, nil},
		"owned object is missing": {"five.test", byOwned, "no ConfigMap refers to it", func(*stage, types.UID, schema.GroupVersionResource) {},
			[]observer.Invariant{observer.Gate}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, plane, watching)
			cloud := s.define(c.group, c.annotations)
			o := s.owner("o")
			a := inventory.Entry{
				Identity: resource.Identity{Group: c.group, Kind: "Cloud", Namespace: s.namespace, Name: "a"},
				Version:  "v1", Resource: "clouds",
			}
			s.record(o, a, s.entry("b", 0))
			u := s.child(o, "a")
			u.SetAPIVersion(c.group + "/v1")
			u.SetKind("Cloud")
			c.before(s, s.create(s.truss, cloud, u).GetUID(), cloud)
			s.make(o, "b")
			if diff := cmp.Diff(c.want, s.violations()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// define makes a kind, waits until it is served, and lets the observer find it.
func (s *stage) define(group, annotations string) schema.GroupVersionResource {
	s.t.Helper()
	text := strings.NewReplacer("GROUP", group, "ANNOTATIONS", annotations).Replace(definition)
	if err := plane.Apply(s.t.Context(), []byte(text)); err != nil {
		s.t.Fatal(err)
	}
	s.settle()
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: "clouds"}
}

func (s *stage) state(cloud schema.GroupVersionResource, value string) {
	s.t.Helper()
	_, err := s.admin.Resource(cloud).Namespace(s.namespace).Patch(s.t.Context(), "a", types.MergePatchType,
		[]byte(`{"status":{"state":"`+value+`"}}`), metav1.PatchOptions{}, "status")
	NewWithT(s.t).Expect(err).NotTo(HaveOccurred())
}
