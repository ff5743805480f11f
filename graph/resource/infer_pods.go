package resource

import (
	"cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	kindConfigMap = "ConfigMap"
	kindSecret    = "Secret"
	kindClaim     = "PersistentVolumeClaim"
)

// podSpecAt is where the built-in kinds keep their pod template's spec; nil
// for kinds without one.
func podSpecAt(gk schema.GroupKind) []string {
	switch gk {
	case schema.GroupKind{Kind: "Pod"}:
		return []string{"spec"}
	case schema.GroupKind{Group: "batch", Kind: "CronJob"}:
		return []string{"spec", "jobTemplate", "spec", "template", "spec"}
	case schema.GroupKind{Group: "apps", Kind: "Deployment"},
		schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
		schema.GroupKind{Group: "apps", Kind: "DaemonSet"},
		schema.GroupKind{Group: "apps", Kind: "ReplicaSet"},
		schema.GroupKind{Group: "batch", Kind: "Job"},
		schema.GroupKind{Kind: "ReplicationController"}:
		return []string{"spec", "template", "spec"}
	}
	return nil
}

// findWorkload orders a workload after what its pods mount, read and run as.
func (f *finder) findWorkload() {
	at := podSpecAt(f.node.Payload.Identity.GroupKind())
	if at == nil {
		return
	}
	pod := mapAt(content(f.node), at...)
	if pod == nil {
		return
	}
	f.findAccount(pod)
	for _, secret := range mapsAt(pod, "imagePullSecrets") {
		f.needCore(kindSecret, stringAt(secret, "name"))
	}
	for _, volume := range mapsAt(pod, "volumes") {
		f.findVolume(volume)
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range mapsAt(pod, list) {
			f.findEnvironment(container)
		}
	}
}

// findAccount orders a workload after its service account and the bindings
// that give it rights; pods that name no account run as default.
func (f *finder) findAccount(pod map[string]any) {
	account := Identity{
		Kind:      kindServiceAccount,
		Namespace: f.node.Payload.Identity.Namespace,
		Name:      cmp.Or(stringAt(pod, "serviceAccountName"), stringAt(pod, "serviceAccount"), "default"),
	}
	f.needCore(kindServiceAccount, account.Name)
	for _, id := range f.index.bindings[account] {
		f.need(id, true)
	}
}

func (f *finder) findVolume(volume map[string]any) {
	f.needCore(kindConfigMap, stringAt(mapAt(volume, "configMap"), "name"))
	f.needCore(kindSecret, stringAt(mapAt(volume, "secret"), "secretName"))
	f.needCore(kindClaim, stringAt(mapAt(volume, "persistentVolumeClaim"), "claimName"))
	for _, source := range mapsAt(mapAt(volume, "projected"), "sources") {
		f.needCore(kindConfigMap, stringAt(mapAt(source, "configMap"), "name"))
		f.needCore(kindSecret, stringAt(mapAt(source, "secret"), "name"))
	}
}

func (f *finder) findEnvironment(container map[string]any) {
	for _, variable := range mapsAt(container, "env") {
		from := mapAt(variable, "valueFrom")
		f.needCore(kindConfigMap, stringAt(mapAt(from, "configMapKeyRef"), "name"))
		f.needCore(kindSecret, stringAt(mapAt(from, "secretKeyRef"), "name"))
	}
	for _, from := range mapsAt(container, "envFrom") {
		f.needCore(kindConfigMap, stringAt(mapAt(from, "configMapRef"), "name"))
		f.needCore(kindSecret, stringAt(mapAt(from, "secretRef"), "name"))
	}
}
