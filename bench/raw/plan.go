package raw

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
)

// managerLabel keeps the children out of the manager's watch; it is as long as
// resource.ManagerCore.
const managerLabel = "raw0"

// placeholder stands for the owner's UID, and with another end for a need's.
const placeholder = "00000000-0000-4000-8000-000000000000"

// Plan is a Bundle as far as it can be prepared before its owner exists. It is
// read-only once made, so that one Plan may run many times.
type Plan struct {
	owner    resource.Owner
	graph    *resource.Graph
	children []*unstructured.Unstructured
	record   inventory.Encoded
	status   v1.BundleStatus
}

// Prepare compiles and renders a Bundle of static resources for an owner of
// the given kind in a namespace. key signs the children; any key will do. O(n).
func Prepare(ctx context.Context, b *v1.Bundle, kind schema.GroupVersionKind, namespace string, key writer.Key) (*Plan, error) {
	b = b.DeepCopy()
	b.Namespace = namespace
	g, err := bundle.Compile(b)
	if err != nil {
		return nil, fmt.Errorf("cannot compile the baseline: %w", err)
	}
	p := &Plan{graph: g, owner: resource.Owner{
		UID: placeholder, Kind: kind, Resource: v1.BundlePlural, Namespace: namespace, Name: b.Name,
		Generation: 1, Manager: managerLabel, Finalizer: v1.Finalizer,
	}}
	plan := inventory.NewPlan(g, func(*resource.Node) string { return configMaps.Resource })
	if p.record, err = plan.Encode(); err != nil {
		return nil, err
	}
	report := bundle.Report{Observed: 1, SpecSize: bundle.SpecSize(b)}
	for i := range g.Len() {
		child, err := p.child(ctx, i, key)
		if err != nil {
			return nil, fmt.Errorf("cannot render resource %q of the baseline: %w", g.At(i).ID, err)
		}
		p.children = append(p.children, child)
		report.Nodes = append(report.Nodes, bundle.NodeReport{
			Name: string(g.At(i).ID), State: graph.Ready, Reason: "Exists", Message: "ConfigMap is ready once it exists",
		})
	}
	p.status = bundle.Status(nil, report, time.Now())
	return p, nil
}

// child renders node i as Truss does, with placeholders for UIDs.
func (p *Plan) child(ctx context.Context, i int, key writer.Key) (*unstructured.Unstructured, error) {
	def := &p.graph.At(i).Payload
	rendered, err := def.Render(ctx, nil)
	if err != nil {
		return nil, err
	}
	var needs []metav1.OwnerReference
	block := true
	for n, need := range p.graph.Needs(i) {
		needs = append(needs, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: p.graph.At(int(need)).Payload.Identity.Name,
			UID: types.UID(fmt.Sprintf("%s%012d", placeholder[:24], n+1)), BlockOwnerDeletion: &block,
		})
	}
	desired, err := writer.Prepare(&p.owner, def.Identity, rendered.Object, needs)
	if err != nil {
		return nil, err
	}
	annotations := maps.Clone(desired.Object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[resource.AppliedAnnotation] = key.Sign(p.owner.UID, def.Identity, writer.Stamp{Hash: desired.Hash})
	desired.Object.SetAnnotations(annotations)
	return desired.Object, nil
}

// fill gives child i with the UIDs of its owner and needs. Everything but
// metadata is shared.
func (p *Plan) fill(i int, owner *resource.Owner, needs []types.UID) *unstructured.Unstructured {
	object := maps.Clone(p.children[i].Object)
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	object["metadata"] = metadata
	labels, _ := metadata["labels"].(map[string]any)
	labels = maps.Clone(labels)
	labels[resource.OwnerLabel] = string(owner.UID)
	labels[resource.SlotLabel] = strconv.Itoa(owner.Slot())
	metadata["labels"] = labels
	refs, _ := metadata["ownerReferences"].([]any)
	filled := make([]any, len(refs))
	for j := range refs { // the owner comes first, then the needs
		ref, _ := refs[j].(map[string]any)
		ref = maps.Clone(ref)
		ref["uid"] = string(owner.UID)
		if j > 0 {
			ref["uid"] = string(needs[j-1])
		}
		filled[j] = ref
	}
	metadata["ownerReferences"] = filled
	return &unstructured.Unstructured{Object: object}
}
