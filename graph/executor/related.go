package executor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/readiness"
)

// related is what was observed around an object: the objects K that it owns
// and its output object O (Smith's managing-resources).
type related struct {
	// owned are the Ks that were read whole, by UID, one read per version.
	owned map[types.UID]*unstructured.Unstructured

	output        *readiness.Output
	outputVersion string
}

func outputResource(kind string) schema.GroupVersionResource {
	if kind == "ConfigMap" {
		return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	}
	return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
}

// observe gathers what the rules of a kind need to know around an object.
func (g *generation) observe(ctx context.Context, i int, item observer.Item, rules *readiness.Rules) (readiness.Related, error) {
	rel := readiness.Related{OwnedSynced: true}
	n := &g.nodes[i]
	n.related.output, n.related.outputVersion = nil, ""
	owned := []*unstructured.Unstructured{item.Object}
	if gk, version, ok := rules.NeedsOwned(); ok {
		if err := g.observeOwned(ctx, i, item, rules, gk, version, &rel); err != nil {
			return rel, err
		}
		owned = rel.Owned
	}
	name, kinds, err := readiness.OutputName(rules, owned)
	if err != nil || name == "" {
		return rel, nil //nolint:nilerr // Evaluate says what is wrong
	}
	stores := make(map[string]*observer.Store, len(kinds))
	for _, kind := range kinds {
		id := resource.Identity{Kind: kind, Namespace: item.Object.GetNamespace(), Name: name}
		stores[kind] = g.watchNamed(i, id, outputResource(kind))
	}
	rel.OutputExists = func(kind, name string) (exists, known bool) {
		s, ok := stores[kind]
		if !ok {
			return false, false
		}
		found, presence := s.Get(item.Object.GetNamespace(), name)
		if presence == observer.Present {
			n.related.outputVersion = string(found.Object.GetUID()) + "/" + found.Object.GetResourceVersion()
		}
		return presence == observer.Present, presence != observer.Unknown
	}
	return rel, nil
}

// observeOwned finds the Ks of an object. One watch of metadata serves a kind
// and namespace; a K that has to be read whole is read once per version.
func (g *generation) observeOwned(ctx context.Context, i int, item observer.Item, rules *readiness.Rules, gk schema.GroupKind, version string, rel *readiness.Related) error {
	g.watchOwned(i, item.Object.GetUID())
	info, err := g.x.kinds.Rules(ctx, gk, version)
	if meta.IsNoMatchError(err) {
		info, err = g.x.kinds.Rules(ctx, gk, "") // any served version will do
	}
	if err != nil {
		rel.OwnedSynced = false
		rel.OwnedMessage = fmt.Sprintf("kind %s is not known yet: %v", gk, err)
		if meta.IsNoMatchError(err) {
			return nil
		}
		return err
	}
	store := g.acquire(observer.Key{
		Account: g.account, Resource: info.Mapping.Resource, Namespace: item.Object.GetNamespace(),
		MetadataOnly: true, Slim: true,
	})
	if synced, err := store.Status(); !synced || err != nil {
		rel.OwnedSynced = synced
		if err != nil {
			rel.OwnedSynced, rel.OwnedMessage = false, watchMessage(err)
		}
	}
	for _, k := range store.ByOwner(item.Object.GetUID()) {
		whole, err := g.readOwned(ctx, &g.nodes[i], k.Object, info.Mapping, rules)
		if err != nil {
			return err
		}
		rel.Owned = append(rel.Owned, whole)
	}
	return nil
}

func (g *generation) readOwned(ctx context.Context, n *node, k *unstructured.Unstructured, m *meta.RESTMapping, rules *readiness.Rules) (*unstructured.Unstructured, error) {
	if !rules.NeedsContent() {
		return withKind(k, m.GroupVersionKind), nil
	}
	if was := n.related.owned[k.GetUID()]; was != nil && was.GetResourceVersion() == k.GetResourceVersion() {
		return was, nil
	}
	whole, err := g.client.Dynamic.Resource(m.Resource).Namespace(k.GetNamespace()).Get(ctx, k.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read %s %q: %w", m.GroupVersionKind.Kind, k.GetName(), err)
	}
	if n.related.owned == nil {
		n.related.owned = map[types.UID]*unstructured.Unstructured{}
	}
	n.related.owned[k.GetUID()] = whole
	return whole, nil
}

// withKind returns metadata with apiVersion and kind, which a slim watch may
// not carry.
func withKind(u *unstructured.Unstructured, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	if u.GroupVersionKind() == gvk {
		return u
	}
	out := &unstructured.Unstructured{Object: map[string]any{"metadata": u.Object["metadata"]}}
	out.SetGroupVersionKind(gvk)
	return out
}
