package readiness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// service closes a gap of kstatus, which looks at the cluster IP only: a
// LoadBalancer is of use once it has an ingress address.
func service(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	if textAt(obj.Object, "spec", "type") != "LoadBalancer" {
		return ready(ReasonExists, "Service is ready once it exists"), true
	}
	if len(listAt(obj.Object, "status", "loadBalancer", "ingress")) == 0 {
		return inProgress(ReasonLoadBalancer, "Service of type LoadBalancer has no status.loadBalancer.ingress yet"), true
	}
	return ready(ReasonLoadBalancer, "Service of type LoadBalancer has an ingress address"), true
}

func namespace(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	if textAt(obj.Object, "status", "phase") == "Terminating" {
		return inProgress(ReasonNamespacePhase, "Namespace is terminating"), true
	}
	return ready(ReasonExists, "Namespace is ready once it exists"), true
}

// apiService closes a gap of kstatus, which knows only the condition Ready.
func apiService(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	return conditionRule(obj, ReasonAvailable), true
}

// autoscaler is Smith's rule without its clock (five minutes of inactive
// scaling became an error there): it waits, and the message says for what.
func autoscaler(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	able, found := conditionOf(obj.Object, "AbleToScale")
	if found && able.status == "False" {
		return failed(ReasonScaling, "HorizontalPodAutoscaler: "+able.says("AbleToScale")), true
	}
	for _, conditionType := range []string{"AbleToScale", "ScalingActive"} {
		if r := conditionRule(obj, conditionType); r.Status != Ready {
			return inProgress(ReasonScaling, "HorizontalPodAutoscaler: "+r.Message), true
		}
	}
	return ready(ReasonScaling, "HorizontalPodAutoscaler is able to scale and active"), true
}

// The annotations of a claim that its controllers write once a volume is made
// for it.
const (
	annotationProvisioner     = "volume.kubernetes.io/storage-provisioner"
	annotationBetaProvisioner = "volume.beta.kubernetes.io/storage-provisioner"
	annotationSelectedNode    = "volume.kubernetes.io/selected-node"
)

// volumeClaim lets a claim that waits for its first consumer pass: that
// consumer usually depends on the claim, so waiting would never end. Whether
// the class binds late is not on the claim. The caller may say so
// (Related.WaitsForConsumer); else a pending claim of a class, without a
// volume, a provisioner or a node chosen for it, is taken for a waiting one.
// For a class that binds at once this releases dependants early for the moment
// until the provisioner is noted, which does no harm: their pods wait for the
// volume. The opposite mistake would block the graph for ever.
func volumeClaim(obj *unstructured.Unstructured, rel Related) (Result, bool) {
	phase := textAt(obj.Object, "status", "phase")
	switch phase {
	case "Bound":
		return ready(ReasonBound, "PersistentVolumeClaim is bound"), true
	case "Lost":
		return failed(ReasonVolumeLost, "PersistentVolumeClaim has lost its volume"), true
	}
	if phase == "Pending" && waitsForConsumer(obj, rel) {
		return ready(ReasonFirstConsumer, "PersistentVolumeClaim is not bound and nothing provisions it: it seems to wait for its first consumer, which must not wait for it"), true
	}
	return inProgress(ReasonNotBound, fmt.Sprintf("PersistentVolumeClaim is not bound, phase %q", truncate(phase, 40))), true
}

func waitsForConsumer(obj *unstructured.Unstructured, rel Related) bool {
	class := textAt(obj.Object, "spec", "storageClassName")
	if class == "" || textAt(obj.Object, "spec", "volumeName") != "" {
		return false
	}
	for _, key := range []string{annotationProvisioner, annotationBetaProvisioner, annotationSelectedNode} {
		if textAt(obj.Object, "metadata", "annotations", key) != "" {
			return false
		}
	}
	if rel.WaitsForConsumer == nil {
		return true
	}
	waits, known := rel.WaitsForConsumer(class)
	return waits || !known
}
