package writer

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// absent decides what an unsuccessful read proves. Gone is a 404 that names
// the object, or a 404 on the CRD of its kind; a path that is not served says
// nothing about the object, so other served versions are tried.
func (w *Writer) absent(ctx context.Context, r *Removal, err error) (Removed, *Failure) {
	if goneByName(err, r.id()) {
		r.Recorder.ObserveDeleted(r.id().Namespace, r.id().Name, "", "")
		return Removed{Gone: true}, nil
	}
	if !apierrors.IsNotFound(err) {
		return Removed{}, Classify(r.id(), err)
	}
	unknown := fail(Retriable, ReasonKindUnknown, "cannot tell whether %s is gone: version %s is not served", r.id(), r.Entry.Version)
	if r.elsewhere || r.Entry.Group == "" {
		return Removed{}, unknown
	}
	versions, installed, err := w.servedVersions(ctx, r)
	if err != nil {
		return Removed{}, fail(Retriable, ReasonKindUnknown, "cannot tell whether %s is gone: %v", r.id(), err)
	}
	for _, version := range versions {
		entry, again := *r.Entry, *r
		entry.Version = version
		again.Entry, again.elsewhere = &entry, true
		out, f := w.Delete(ctx, &again)
		if f == nil || f.Reason != ReasonKindUnknown {
			return out, f
		}
	}
	if installed {
		return Removed{}, unknown
	}
	return Removed{Gone: true, Message: fmt.Sprintf("the kind of %s is not installed any more", r.id())}, nil
}

// servedVersions lists versions other than the recorded one in which the object
// may be found, and says whether its kind has a CRD. Kinds without one are
// served by the API server or an aggregated one, whose versions are
// APIServices.
func (w *Writer) servedVersions(ctx context.Context, r *Removal) (versions []string, installed bool, err error) {
	crd, err := r.Own.Dynamic.Resource(crds).Get(ctx, r.Entry.Resource+"."+r.Entry.Group, metav1.GetOptions{})
	if err == nil {
		return otherVersions(crd, r.Entry.Version), true, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, false, err
	}
	list, err := r.Own.Dynamic.Resource(apiServices).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, false, err
	}
	for i := range list.Items {
		group, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "group")
		version, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "version")
		if group == r.Entry.Group && version != r.Entry.Version {
			versions = append(versions, version)
		}
	}
	return versions, false, nil
}

// otherVersions returns the served versions other than the one that was tried.
func otherVersions(crd *unstructured.Unstructured, tried string) []string {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var out []string
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if served, _ := version["served"].(bool); served && name != tried {
			out = append(out, name)
		}
	}
	return out
}
