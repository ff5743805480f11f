package reader

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// atOnce is how many lists run at the same time.
const atOnce = 5

// Children lists the objects of an owner by their label: one request for the
// metadata of each kind. Kinds that the server does not know have no objects.
// Kinds that cannot be read are left out of the result, and the reason is
// among the warnings, in the order of kinds.
func (c *Cluster) Children(ctx context.Context, owner types.UID, kinds []schema.GroupVersionKind) (trace.Live, []error) {
	found := make([]map[string]trace.Child, len(kinds))
	failed := make([]error, len(kinds))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, kind := range kinds {
		group.Go(func() error {
			found[i], failed[i] = c.children(ctx, owner, kind)
			return nil
		})
	}
	_ = group.Wait() // the functions return nil
	live := trace.Live{}
	var warnings []error
	for i, kind := range kinds {
		if failed[i] != nil {
			warnings = append(warnings, fmt.Errorf("cannot list objects of kind %s, their ages are not shown: %w", kind.GroupKind(), failed[i]))
			continue
		}
		live[kind.GroupKind()] = found[i]
	}
	return live, warnings
}

func (c *Cluster) children(ctx context.Context, owner types.UID, kind schema.GroupVersionKind) (map[string]trace.Child, error) {
	out := map[string]trace.Child{}
	path, err := c.path(kind)
	if meta.IsNoMatchError(err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	request := c.client.Get().AbsPath(path...).SetHeader("Accept", acceptMetadataList)
	err = read(ctx, withOptions(request, metav1.ListOptions{LabelSelector: ownedBy(owner)}), list)
	if apierrors.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		out[list.Items[i].Name] = trace.ChildOf(&list.Items[i].ObjectMeta)
	}
	return out, nil
}

// path is where the objects of a kind are listed.
func (c *Cluster) path(kind schema.GroupVersionKind) ([]string, error) {
	mapper, err := c.mapper()
	if err != nil {
		return nil, fmt.Errorf("cannot discover kinds: %w", err)
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	r := mapping.Resource
	path := []string{"apis", r.Group, r.Version}
	if r.Group == "" {
		path = []string{"api", r.Version}
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		path = append(path, "namespaces", c.Namespace)
	}
	return append(path, r.Resource), nil
}

// forget drops what was discovered, so that kinds that came since are found:
// discovery by itself looks again once per process.
func (c *Cluster) forget() {
	if mapper, err := c.mapper(); err == nil {
		meta.MaybeResetRESTMapper(mapper)
	}
}

func ownedBy(owner types.UID) string { return resource.OwnerLabel + "=" + string(owner) }

func withOptions(r *rest.Request, o metav1.ListOptions) *rest.Request {
	return r.SpecificallyVersionedParams(&o, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"})
}

// read decodes an answer whatever kind it says it has: metadata is where it
// is in whole objects, too.
func read(ctx context.Context, r *rest.Request, into any) error {
	result := r.Do(ctx)
	// Only Error has the server's own words.
	if err := result.Error(); err != nil {
		return err
	}
	data, err := result.Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("cannot decode the server's answer: %w", err)
	}
	return nil
}
