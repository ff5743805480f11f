package observer

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/truss-dev/truss/graph/executor/inventory"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// always are the kinds without which nothing can be judged. Definitions come
// first: the rules of a kind must be known before its objects.
func always() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{definitions, namespaces, inventory.GVR}
}

// ignored says that a kind only makes noise.
func ignored(group, resource string) bool {
	return resource == "events" || group == "coordination.k8s.io"
}

// discover lists all kinds that can be watched, each in its preferred version,
// sorted. Groups whose server does not answer are left out.
func discover(d discovery.DiscoveryInterface) ([]schema.GroupVersionResource, error) {
	lists, err := discovery.ServerPreferredResources(d)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("cannot discover kinds to observe: %w", err)
	}
	var out []schema.GroupVersionResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("cannot discover kinds to observe: %w", err)
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			watchable := slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
			if watchable && !ignored(gv.Group, r.Name) {
				out = append(out, gv.WithResource(r.Name))
			}
		}
	}
	slices.SortFunc(out, compareKinds)
	return out, nil
}

func compareKinds(a, b schema.GroupVersionResource) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
}

// define takes a version of a CRD: the rules of its kind, and the kind itself
// once it is served. It is called under the lock.
func (o *Observer) define(crd *unstructured.Unstructured) {
	gvr, established := defined(crd)
	if gvr.Version == "" {
		return
	}
	if w := o.watches[gvr.GroupResource()]; w != nil {
		gvr = w.gvr
	}
	o.history.rule(gvr.GroupResource(), gvr.Version, rulesOf(crd), version64(crd.GetResourceVersion()))
	if established && o.wanted(gvr) {
		o.follow(gvr)
	}
}

// undefine takes the end of a CRD. It is called under the lock.
func (o *Observer) undefine(crd *unstructured.Unstructured) {
	gvr, _ := defined(crd)
	o.unfollow(gvr.GroupResource())
	for _, l := range o.history.coverage(gvr.GroupResource()).alive {
		o.history.lose(gvr.GroupResource(), l.uid, version64(crd.GetResourceVersion()))
	}
}

func (o *Observer) wanted(gvr schema.GroupVersionResource) bool {
	if len(o.options.Kinds) == 0 {
		return true
	}
	return slices.ContainsFunc(o.options.Kinds, func(k schema.GroupVersionResource) bool { return k.GroupResource() == gvr.GroupResource() })
}

// defined reads where the objects of a CRD are: in the version they are stored
// in, which need not be converted.
func defined(crd *unstructured.Unstructured) (gvr schema.GroupVersionResource, established bool) {
	gvr.Group, _, _ = unstructured.NestedString(crd.Object, "spec", "group")
	gvr.Resource, _, _ = unstructured.NestedString(crd.Object, "spec", "names", "plural")
	served := servedVersions(crd)
	if len(served) > 0 {
		gvr.Version = served[0]
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, item := range versions {
		v, _ := item.(map[string]any)
		name, _ := v["name"].(string)
		if stored, _ := v["storage"].(bool); stored && slices.Contains(served, name) {
			gvr.Version = name
		}
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, item := range conditions {
		c, _ := item.(map[string]any)
		established = established || c["type"] == "Established" && c["status"] == "True"
	}
	return gvr, established && crd.GetDeletionTimestamp() == nil
}
