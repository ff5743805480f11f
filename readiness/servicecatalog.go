package readiness

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// serviceCatalogOverlay keeps the two kinds of Service Catalog that Smith had
// rules for, whether an aggregated server serves them or a CRD.
func serviceCatalogOverlay(kind string) kindRule {
	switch kind {
	case "ServiceInstance":
		return serviceInstance
	case "ServiceBinding":
		return serviceBinding
	}
	return nil
}

// serviceInstance tells by the reason whether Ready=False is progress.
func serviceInstance(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	c, found := conditionOf(obj.Object, "Ready")
	if found && c.status == "False" && !isCatalogProgress(c.reason) {
		return failed(ReasonReadyCondition, "ServiceInstance: "+c.says("Ready")), true
	}
	return catalogCondition(obj, c, found), true
}

// serviceBinding waits on Ready=False whatever the reason, as Smith does. Its
// output Secret is checked like any other output.
func serviceBinding(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	c, found := conditionOf(obj.Object, "Ready")
	return catalogCondition(obj, c, found), true
}

func catalogCondition(obj *unstructured.Unstructured, c condition, found bool) Result {
	if f, _ := conditionOf(obj.Object, "Failed"); f.status == "True" && c.status != "True" {
		return failed(ReasonReadyCondition, obj.GetKind()+": "+f.says("Failed"))
	}
	if !found {
		return inProgress(ReasonReadyCondition, obj.GetKind()+" has no condition Ready yet")
	}
	if c.status == "True" {
		return ready(ReasonReadyCondition, obj.GetKind()+": "+c.says("Ready"))
	}
	return inProgress(ReasonReadyCondition, obj.GetKind()+": "+c.says("Ready"))
}

// isCatalogProgress lists the reasons by which Service Catalog says that it is
// still at work.
func isCatalogProgress(reason string) bool {
	return slices.Contains([]string{
		"Provisioning", "UpdatingInstance", "Deprovisioning",
		"ProvisionRequestInFlight", "UpdateInstanceRequestInFlight", "DeprovisionRequestInFlight",
		"StartingInstanceOrphanMitigation",
	}, reason)
}
