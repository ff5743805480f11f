package rig

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/inventory"
)

// configMaps are the children of all shapes.
var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Owner is an object that was submitted.
type Owner struct {
	GVR             schema.GroupVersionResource
	Namespace, Name string
	UID             types.UID
}

// Namespace makes a fresh namespace.
func (r *Rig) Namespace(ctx context.Context) (string, error) {
	made, err := r.core.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot make a namespace: %w", err)
	}
	return made.Name, nil
}

// Submit POSTs an owner, encoded already, as a user would, and returns when the
// API server answered. Of the answer only the identity is read.
func (r *Rig) Submit(ctx context.Context, gvr schema.GroupVersionResource, namespace string, body []byte) (Owner, error) {
	answer, err := r.owner.Post().AbsPath(path(gvr, namespace)).
		SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").Body(body).DoRaw(ctx)
	if err != nil {
		return Owner{}, fmt.Errorf("cannot create an owner: %w", err)
	}
	var made metav1.PartialObjectMetadata
	if err := json.Unmarshal(answer, &made); err != nil {
		return Owner{}, fmt.Errorf("cannot read the created owner: %w", err)
	}
	return Owner{GVR: gvr, Namespace: namespace, Name: made.Name, UID: made.UID}, nil
}

// Change replaces the spec of an owner by that of an encoded one.
func (r *Rig) Change(ctx context.Context, o Owner, body []byte) error {
	err := r.owner.Patch(types.MergePatchType).AbsPath(path(o.GVR, o.Namespace), o.Name).Body(body).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("cannot change owner %q: %w", o.Name, err)
	}
	return nil
}

// Delete asks for the deletion of an owner.
func (r *Rig) Delete(ctx context.Context, o Owner) error {
	err := r.owner.Delete().AbsPath(path(o.GVR, o.Namespace), o.Name).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("cannot delete owner %q: %w", o.Name, err)
	}
	return nil
}

// Signal sets an entry in the data of a ConfigMap, as somebody else would.
func (r *Rig) Signal(ctx context.Context, namespace, name, key, value string) error {
	patch, _ := json.Marshal(map[string]any{"data": map[string]any{key: value}}) // strings always encode
	err := r.owner.Patch(types.MergePatchType).AbsPath(path(configMaps, namespace), name).Body(patch).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("cannot set %q in ConfigMap %q: %w", key, name, err)
	}
	return nil
}

// Discard removes a namespace and what is in it without Truss: first the
// ConfigMaps, then what finalizers hold, at last the namespace. It does not
// wait for the namespace to be gone, which is empty by then.
func (r *Rig) Discard(ctx context.Context, namespace string) error {
	err := r.admin.Resource(configMaps).Namespace(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("cannot empty namespace %q: %w", namespace, err)
	}
	for _, gvr := range []schema.GroupVersionResource{TwinGVR, inventory.GVR} {
		if err := r.release(ctx, gvr, namespace); err != nil {
			return fmt.Errorf("cannot release the %s of namespace %q: %w", gvr.Resource, namespace, err)
		}
	}
	if err := r.core.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("cannot delete namespace %q: %w", namespace, err)
	}
	return nil
}

// release takes finalizers off and deletes.
func (r *Rig) release(ctx context.Context, gvr schema.GroupVersionResource, namespace string) error {
	in := r.admin.Resource(gvr).Namespace(namespace)
	list, err := in.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		name := list.Items[i].GetName()
		if _, err := in.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
		if err := in.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// path is the URL of a resource in a namespace.
func path(gvr schema.GroupVersionResource, namespace string) string {
	if gvr.Group == "" {
		return "/api/" + gvr.Version + "/namespaces/" + namespace + "/" + gvr.Resource
	}
	return "/apis/" + gvr.Group + "/" + gvr.Version + "/namespaces/" + namespace + "/" + gvr.Resource
}

// ServerVersion is the version of the API server.
func (r *Rig) ServerVersion() (string, error) {
	v, err := r.core.Discovery().ServerVersion()
	if err != nil {
		return "", fmt.Errorf("cannot ask for the version of the API server: %w", err)
	}
	return v.GitVersion, nil
}
