package resource

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph"
)

// maxBindings bounds how many role bindings of one service account order a
// workload, so that Infer adds at most that many edges per workload.
const maxBindings = 16

const (
	rbacGroup = "rbac.authorization.k8s.io"

	kindServiceAccount     = "ServiceAccount"
	kindRole               = "Role"
	kindRoleBinding        = "RoleBinding"
	kindClusterRole        = "ClusterRole"
	kindClusterRoleBinding = "ClusterRoleBinding"
)

// Infer adds needs with reason Inferred for the orders that Kubernetes itself
// asks for and authors forget: a CRD before its custom resources, a Namespace
// before its contents, ServiceAccount, role and binding before the workload
// that runs with them, ConfigMap, Secret and PersistentVolumeClaim before the
// pod templates that mount or read them.
//
// It reads Node.Template. Names that still hold placeholders match no node,
// since identities are static. Graph.New drops inferred needs that would turn
// an order round. O(total size of the templates).
func Infer(nodes []graph.Node[Node]) {
	x := newIndex(nodes)
	for i := range nodes {
		f := &finder{index: x, node: &nodes[i]}
		f.findKind()
		f.findNamespace()
		f.findRole()
		f.findWorkload()
	}
}

// index finds nodes by what others call them.
type index struct {
	objects  map[Identity]graph.ID
	kinds    map[schema.GroupKind]graph.ID
	bindings map[Identity][]graph.ID
}

func newIndex(nodes []graph.Node[Node]) *index {
	x := &index{
		objects:  make(map[Identity]graph.ID, len(nodes)),
		kinds:    map[schema.GroupKind]graph.ID{},
		bindings: map[Identity][]graph.ID{},
	}
	for i := range nodes {
		n := &nodes[i]
		x.objects[n.Payload.Identity] = n.ID
		switch n.Payload.Identity.GroupKind() {
		case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
			x.addKind(n)
		case schema.GroupKind{Group: rbacGroup, Kind: kindRoleBinding}, schema.GroupKind{Group: rbacGroup, Kind: kindClusterRoleBinding}:
			x.addBinding(n)
		}
	}
	return x
}

func (x *index) addKind(n *graph.Node[Node]) {
	spec := mapAt(content(n), "spec")
	gk := schema.GroupKind{Group: stringAt(spec, "group"), Kind: stringAt(mapAt(spec, "names"), "kind")}
	if gk.Group != "" && gk.Kind != "" {
		x.kinds[gk] = n.ID
	}
}

func (x *index) addBinding(n *graph.Node[Node]) {
	for _, account := range subjects(n) {
		if len(x.bindings[account]) < maxBindings {
			x.bindings[account] = append(x.bindings[account], n.ID)
		}
	}
}

// finder adds the inferred needs of one node.
type finder struct {
	index *index
	node  *graph.Node[Node]
}

// need adds a need to a node that is not the node itself.
func (f *finder) need(id graph.ID, ok bool) {
	if ok && id != f.node.ID {
		f.node.Needs = append(f.node.Needs, graph.Need{ID: id, Reason: graph.Inferred})
	}
}

// needObject adds a need to an object of the graph, if it is one.
func (f *finder) needObject(group, kind, namespace, name string) {
	if name == "" {
		return
	}
	id, ok := f.index.objects[Identity{Group: group, Kind: kind, Namespace: namespace, Name: name}]
	f.need(id, ok)
}

// needCore adds a need to a core object of the node's own namespace.
func (f *finder) needCore(kind, name string) {
	f.needObject("", kind, f.node.Payload.Identity.Namespace, name)
}

func (f *finder) findKind() {
	id, ok := f.index.kinds[f.node.Payload.Identity.GroupKind()]
	f.need(id, ok)
}

func (f *finder) findNamespace() {
	f.needObject("", "Namespace", "", f.node.Payload.Identity.Namespace)
}

// findRole orders a binding after its role and its service accounts.
func (f *finder) findRole() {
	identity := f.node.Payload.Identity
	if identity.Group != rbacGroup || identity.Kind != kindRoleBinding && identity.Kind != kindClusterRoleBinding {
		return
	}
	ref := mapAt(content(f.node), "roleRef")
	switch stringAt(ref, "kind") {
	case kindRole:
		f.needObject(rbacGroup, kindRole, identity.Namespace, stringAt(ref, "name"))
	case kindClusterRole:
		f.needObject(rbacGroup, kindClusterRole, "", stringAt(ref, "name"))
	}
	for _, account := range subjects(f.node) {
		f.needObject("", kindServiceAccount, account.Namespace, account.Name)
	}
}

// subjects are the service accounts that a binding names.
func subjects(n *graph.Node[Node]) []Identity {
	var out []Identity
	for _, subject := range mapsAt(content(n), "subjects") {
		if stringAt(subject, "kind") != kindServiceAccount {
			continue
		}
		namespace := stringAt(subject, "namespace")
		if namespace == "" {
			namespace = n.Payload.Identity.Namespace
		}
		out = append(out, Identity{Kind: kindServiceAccount, Namespace: namespace, Name: stringAt(subject, "name")})
	}
	return out
}

func content(n *graph.Node[Node]) map[string]any {
	if n.Payload.Template == nil {
		return nil
	}
	return n.Payload.Template.Object
}

// mapAt walks keys; nil when something else stands there.
func mapAt(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}

// mapsAt returns the maps of a list, nil ones for other items.
func mapsAt(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	out := make([]map[string]any, len(list))
	for i, item := range list {
		out[i], _ = item.(map[string]any)
	}
	return out
}

func stringAt(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
