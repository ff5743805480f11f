package shape

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/truss-dev/truss/bundle/v1"
)

// Names in the Bundle that Fed makes.
const (
	// Source is the ConfigMap that others change, by setting SignalKey.
	Source = "source"
	// FedName is the ConfigMap that shows the source's signal under SignalKey.
	FedName = "fed"
	// SignalKey is the entry of data that travels.
	SignalKey = "signal"
	// WatchLabel is the label that both carry, with the value "true".
	WatchLabel = "bench.truss.dev/watched"
)

// Wide is a Bundle of n ConfigMaps without references. revision goes into the
// data of each, so that another one changes them all.
func Wide(n, revision int) *v1.Bundle {
	b := named("wide")
	for i := range n {
		b.Spec.Resources = append(b.Spec.Resources, resource(i, revision))
	}
	return b
}

// Chain is a Bundle of n ConfigMaps, each of which needs the one before.
func Chain(n int) *v1.Bundle {
	b := named("chain")
	for i := range n {
		r := resource(i, 1)
		if i > 0 {
			r.References = []v1.Reference{{Resource: b.Spec.Resources[i-1].Name}}
		}
		b.Spec.Resources = append(b.Spec.Resources, r)
	}
	return b
}

// Fed is a Bundle of n ConfigMaps, 2 at least: Source, FedName, which shows
// what others write into the source, and n-2 that have nothing to do with it.
// It becomes Ready once somebody set SignalKey in the source's data.
func Fed(n int) *v1.Bundle {
	b := named("fed")
	watched := map[string]string{WatchLabel: "true"}
	source := v1.Resource{Name: Source, Spec: configMap(Source, watched, map[string]string{"key": "value"})}
	fed := v1.Resource{
		Name:       FedName,
		References: []v1.Reference{{Name: "in", Resource: Source, Path: "data." + SignalKey}},
		Spec:       configMap(FedName, watched, map[string]string{SignalKey: "!{in}"}),
	}
	b.Spec.Resources = append(b.Spec.Resources, source, fed)
	for i := range n - 2 {
		b.Spec.Resources = append(b.Spec.Resources, resource(i, 1))
	}
	return b
}

func named(name string) *v1.Bundle {
	return &v1.Bundle{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.BundleKind},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
}

func resource(i, revision int) v1.Resource {
	name := fmt.Sprintf("c%05d", i)
	return v1.Resource{Name: name, Spec: configMap(name, nil, map[string]string{"key": fmt.Sprintf("value-%d-of-%d", revision, i)})}
}

// configMap is the spec of one object. Maps of strings always encode.
func configMap(name string, labels, data map[string]string) v1.ResourceSpec {
	metadata := map[string]any{"name": name}
	if labels != nil {
		metadata["labels"] = labels
	}
	raw, _ := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data,
	})
	return v1.ResourceSpec{Object: &runtime.RawExtension{Raw: raw}}
}
