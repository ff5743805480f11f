package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Delete deletes one object and returns the metadata of what is left of it:
// nil when the answer proves that the object is gone, else the terminating
// object. (client-go's own Delete methods drop the answer.)
func (c *Client) Delete(ctx context.Context, r schema.GroupVersionResource, namespace, name string, o metav1.DeleteOptions) (*metav1.PartialObjectMetadata, error) {
	o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("cannot encode options to delete %q: %w", name, err)
	}
	result := c.raw.Delete().AbsPath(prefixOf(r)).
		NamespaceIfScoped(namespace, namespace != "").Resource(r.Resource).Name(name).
		SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").
		Body(body).Do(ctx)
	if err := result.Error(); err != nil { // Raw would lose the reason that the API server gave
		return nil, err
	}
	answer, err := result.Raw()
	if err != nil {
		return nil, err
	}
	var left metav1.PartialObjectMetadata
	if err := json.Unmarshal(answer, &left); err != nil {
		return nil, fmt.Errorf("cannot decode what is left of %q: %w", name, err)
	}
	if left.Kind == "Status" && left.APIVersion == "v1" {
		return nil, nil
	}
	return &left, nil
}

// prefixOf ends before the names, which the request checks: a name like ".." must
// not become part of another object's path.
func prefixOf(r schema.GroupVersionResource) string {
	if r.Group == "" {
		return path.Join("/api", r.Version)
	}
	return path.Join("/apis", r.Group, r.Version)
}
