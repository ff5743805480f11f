package executor

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	services   = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	bonds      = schema.GroupVersionResource{Group: "executor.example.com", Version: "v1", Resource: "bonds"}
	crds       = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	roles      = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// node is a static node, whose ID is the object's name.
func (h *host) node(text string, needs ...string) graph.Node[resource.Node] {
	h.t.Helper()
	u := parse(h.t, text)
	gvk := u.GroupVersionKind()
	n := graph.Node[resource.Node]{
		ID: graph.ID(u.GetName()),
		Payload: resource.Node{
			Identity: resource.Identity{Group: gvk.Group, Kind: gvk.Kind, Namespace: h.namespace, Name: u.GetName()},
			Version:  gvk.Version, Template: u, Static: true,
			Render: func(context.Context, resource.Inputs) (resource.Rendered, error) {
				return resource.Rendered{Object: u}, nil
			},
		},
	}
	for _, need := range needs {
		n.Needs = append(n.Needs, graph.Need{ID: graph.ID(need), Reason: graph.Declared})
	}
	return n
}

// configMap is a node that is Ready when it exists.
func (h *host) configMap(name, value string, needs ...string) graph.Node[resource.Node] {
	h.t.Helper()
	return h.node("{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}, data: {k: '"+value+"'}}", needs...)
}

// service is a node that is Ready when the test, as the load balancer's
// controller, gives it an address. (Custom resources would do as well, but the
// garbage collector takes 30 s to learn of their kind, and deletes them last.)
func (h *host) service(name string, needs ...string) graph.Node[resource.Node] {
	h.t.Helper()
	return h.node("{apiVersion: v1, kind: Service, metadata: {name: "+name+"}, spec: {type: LoadBalancer, ports: [{port: 80}]}}", needs...)
}

// reading makes a node's data what read finds in its inputs; nothing while
// that is empty.
func reading(n graph.Node[resource.Node], read func(context.Context, resource.Inputs) (string, error)) graph.Node[resource.Node] {
	template := n.Payload.Template
	n.Payload.Static = false
	n.Payload.Render = func(ctx context.Context, in resource.Inputs) (resource.Rendered, error) {
		value, err := read(ctx, in)
		if err != nil || value == "" {
			return resource.Rendered{Excluded: err == nil}, err
		}
		u := template.DeepCopy()
		err = unstructured.SetNestedField(u.Object, value, "data", "k")
		return resource.Rendered{Object: u}, err
	}
	return n
}

// field reads a string of a need's object.
func field(need graph.ID, path ...string) func(context.Context, resource.Inputs) (string, error) {
	return func(_ context.Context, in resource.Inputs) (string, error) {
		if in.Object(need) == nil {
			return "absent", nil
		}
		value, _, err := unstructured.NestedString(in.Object(need).Object, path...)
		return value, err
	}
}

// create makes an object of somebody else.
func (h *host) create(text string) *unstructured.Unstructured {
	h.t.Helper()
	u := parse(h.t, text)
	m, err := h.cluster.Mapping(u.GroupVersionKind().GroupKind(), u.GroupVersionKind().Version)
	h.must(err)
	out, err := h.in(m.Resource).Create(h.ctx, u, metav1.CreateOptions{FieldManager: "somebody"})
	h.must(err)
	return out
}

// patch is a merge patch by somebody else.
func (h *host) patch(gvr schema.GroupVersionResource, name, patch string, subresources ...string) {
	h.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(patch))
	h.must(err)
	_, err = h.in(gvr).Patch(h.ctx, name, types.MergePatchType, raw, metav1.PatchOptions{FieldManager: "somebody"}, subresources...)
	h.must(err)
}

// address plays the controller of load balancers; "" takes the address away.
func (h *host) address(service, ip string) {
	h.t.Helper()
	ingress := "[]"
	if ip != "" {
		ingress = "[{ip: " + ip + "}]"
	}
	h.patch(services, service, "{status: {loadBalancer: {ingress: "+ingress+"}}}", "status")
}

// addressOf reads the address of a need.
func addressOf(need graph.ID) func(context.Context, resource.Inputs) (string, error) {
	return func(_ context.Context, in resource.Inputs) (string, error) {
		list, _, err := unstructured.NestedSlice(in.Object(need).Object, "status", "loadBalancer", "ingress")
		if err != nil || len(list) == 0 {
			return "none", err
		}
		first, _ := list[0].(map[string]any)
		ip, _ := first["ip"].(string)
		return ip, nil
	}
}

func (h *host) delete(gvr schema.GroupVersionResource, name string) {
	h.t.Helper()
	h.must(h.in(gvr).Delete(h.ctx, name, metav1.DeleteOptions{}))
}

// get returns nil for an object that is not there.
func (h *host) get(gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	h.t.Helper()
	u, err := h.in(gvr).Get(h.ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	h.must(err)
	return u
}

// value is a ConfigMap's data; "" while there is none.
func (h *host) value(name string) func() string {
	return func() string {
		u := h.get(configMaps, name)
		if u == nil {
			return ""
		}
		value, _, _ := unstructured.NestedString(u.Object, "data", "k")
		return value
	}
}
