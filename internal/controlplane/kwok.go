package controlplane

import (
	"context"
	_ "embed" // for the manifests
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// stageCRDFile is the definition of KWOK's Stage kind; deploy/local puts it
// beside the binary of the same version.
const stageCRDFile = "kwok.x-k8s.io_stages.yaml"

// kwokConfig stands in for ~/.kwok/kwok.yaml, which would be read otherwise.
// KWOK gives a configuration file's absent numbers no defaults.
const kwokConfig = `apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  enableCRDs: [Stage]
  nodeLeaseDurationSeconds: 40
  nodeLeaseParallelism: 4
  nodePlayStageParallelism: 4
  podPlayStageParallelism: 16
  podsOnNodeSyncParallelism: 4
`

// nodeLabel marks the nodes that a plane made and may remove again.
const nodeLabel = "truss.dev/local-node"

//go:embed manifests/rbac.yaml
var rbacManifest []byte

//go:embed manifests/stages.yaml
var stagesManifest []byte

// stageManifests are what KWOK plays from the start: the plane's own stages,
// then the files of DIR/stages in the order of their names.
func stageManifests(l layout, binDir string) ([][]byte, error) {
	crd, err := os.ReadFile(filepath.Join(binDir, stageCRDFile))
	if err != nil {
		return nil, fmt.Errorf("cannot read the Stage kind: %w", err)
	}
	all := [][]byte{crd, stagesManifest}
	paths, err := filepath.Glob(filepath.Join(l.stages(), "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("cannot list stages: %w", err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read stages: %w", err)
		}
		all = append(all, raw)
	}
	return all, nil
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// ensureNodes makes the nodes that are missing and deletes the plane's own
// that are too many.
func ensureNodes(ctx context.Context, client kubernetes.Interface, count int) error {
	want := map[string]bool{}
	for i := range count {
		want[nodeName(i)] = true
		_, err := client.CoreV1().Nodes().Create(ctx, simulatedNode(nodeName(i)), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("cannot create node %q: %w", nodeName(i), err)
		}
	}
	have, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: nodeLabel})
	if err != nil {
		return fmt.Errorf("cannot list nodes: %w", err)
	}
	for _, node := range have.Items {
		if want[node.Name] {
			continue
		}
		if err := client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("cannot delete node %q: %w", node.Name, err)
		}
	}
	return nil
}

// releaseNodes deletes the nodes' leases. A KWOK that was killed still holds
// them, and its successor would play no node or pod until they expire.
func releaseNodes(ctx context.Context, client kubernetes.Interface) error {
	err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).
		DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot release the nodes from KWOK: %w", err)
	}
	return nil
}

// simulatedNode has room for more pods than a test makes.
func simulatedNode(name string) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("1000"),
		corev1.ResourceMemory:           resource.MustParse("4Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("4Ti"),
		corev1.ResourcePods:             resource.MustParse("10000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				nodeLabel:                "true",
				corev1.LabelHostname:     name,
				corev1.LabelOSStable:     "linux",
				corev1.LabelArchStable:   "amd64",
				corev1.LabelTopologyZone: "local",
			},
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
}

// nodesReady gives nil when each of the plane's nodes is Ready, pods may be
// scheduled on it, and the KWOK that runs now holds it: Ready alone may date
// from an earlier run.
func nodesReady(ctx context.Context, client kubernetes.Interface, count int) error {
	for i := range count {
		node, err := client.CoreV1().Nodes().Get(ctx, nodeName(i), metav1.GetOptions{})
		if err != nil {
			return err
		}
		ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		if !ready || len(node.Spec.Taints) > 0 {
			return errors.New("node " + node.Name + " is not ready")
		}
		_, err = client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, node.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}
