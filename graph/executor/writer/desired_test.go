package writer

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
)

var testOwner = &resource.Owner{
	UID: "owner-uid", Kind: schema.GroupVersionKind{Group: "smith.atlassian.com", Version: "v1", Kind: "Bundle"},
	Namespace: "shop", Name: "b", Manager: resource.ManagerCore,
}

func prepare(t *testing.T, text string, needs ...metav1.OwnerReference) (*Desired, error) {
	t.Helper()
	u := parse(t, text)
	gvk := u.GroupVersionKind()
	id := resource.Identity{Group: gvk.Group, Kind: gvk.Kind, Namespace: "shop", Name: u.GetName()}
	before := u.DeepCopy()
	d, err := Prepare(testOwner, id, u, needs)
	if diff := cmp.Diff(before.Object, u.Object); diff != "" {
		t.Errorf("Prepare() changed what was rendered, which a static node renders only once (-before +after):\n%s", diff)
	}
	return d, err
}

func hash(t *testing.T, text string) string {
	t.Helper()
	d, err := prepare(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return d.Hash
}

func TestTheHashTellsWhetherSomethingIsToBeWritten(t *testing.T) {
	cm := func(rest string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}" + rest + "}"
	}
	secret := func(rest string) string {
		return "{apiVersion: v1, kind: Secret, metadata: {name: a}" + rest + "}"
	}
	policy := func(spec string) string {
		return "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: " + spec + "}"
	}
	cases := map[string]struct {
		reason string
		a, b   string
		same   bool
	}{
		"Null":        {"A null is no field", cm(", data: {k: v, n: null}"), cm(", data: {k: v}"), true},
		"NullDeep":    {"A null is no field, at any depth", policy("{podSelector: {matchLabels: null}}"), policy("{podSelector: {}}"), true},
		"Order":       {"Maps have no order", cm(", data: {a: x, b: y}"), cm(", data: {b: y, a: x}"), true},
		"Status":      {"The status is not the author's", cm(", status: {x: 1}"), cm(""), true},
		"Created":     {"Encoders write a null creation time", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, creationTimestamp: null}}", cm(""), true},
		"Namespace":   {"The namespace may be left out", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}", cm(""), true},
		"Numbers":     {"A number is one number however it was decoded", cm(", x: 80.0"), cm(", x: 80"), true},
		"StringData":  {"stringData is folded into data", secret(", stringData: {k: v}"), secret(", data: {k: dg==}"), true},
		"StringFirst": {"stringData wins over data, as in the API server", secret(", data: {k: eA==}, stringData: {k: v}"), secret(", data: {k: dg==}"), true},
		"NotASecret":  {"stringData is a name like any other elsewhere", cm(", stringData: {k: v}"), cm(", data: {k: dg==}"), false},
		"Value":       {"A value counts", cm(", data: {k: v}"), cm(", data: {k: w}"), false},
		"Type":        {"A number is no string", cm(`, data: {k: "1"}`), cm(", data: {k: 1}"), false},
		"Key":         {"A field counts", cm(", data: {k: v}"), cm(", data: {k: v, l: w}"), false},
		"ListOrder":   {"Lists have an order", cm(", l: [a, b]"), cm(", l: [b, a]"), false},
		"Version":     {"A changed apiVersion is an update", policy("{}"), strings.Replace(policy("{}"), "io/v1", "io/v2", 1), false},
		"AllowAll":    {"[{}] allows everything, [] nothing", policy("{podSelector: {}, ingress: [{}]}"), policy("{podSelector: {}, ingress: []}"), false},
		"Everywhere":  {"An empty selector selects all namespaces, none the own one", policy("{ingress: [{from: [{podSelector: {}, namespaceSelector: {}}]}]}"), policy("{ingress: [{from: [{podSelector: {}}]}]}"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := hash(t, tc.a) == hash(t, tc.b); got != tc.same {
				t.Errorf("%s: hashes equal = %t, want %t", tc.reason, got, tc.same)
			}
		})
	}
}

func TestPrepareRefusesWhatBelongsToOthers(t *testing.T) {
	cases := map[string]struct {
		reason, object, want string
	}{
		"Label":       {"Labels tie children to owners", "metadata: {name: a, labels: {truss.dev/owner: x}}", resource.ReasonReservedMetadata},
		"ManagedBy":   {"Two tools cannot manage one object", "metadata: {name: a, labels: {app.kubernetes.io/managed-by: Helm}}", resource.ReasonReservedMetadata},
		"Stamp":       {"A stamp is what proves ownership", "metadata: {name: a, annotations: {truss.dev/applied: x}}", resource.ReasonReservedMetadata},
		"UID":         {"The API server's", "metadata: {name: a, uid: x}", resource.ReasonReservedMetadata},
		"Fields":      {"The API server's", "metadata: {name: a, managedFields: []}", resource.ReasonReservedMetadata},
		"Generated":   {"Identity is static", "metadata: {name: a, generateName: x}", resource.ReasonReservedMetadata},
		"Controller":  {"The owner is the controller", "metadata: {name: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]}", resource.ReasonReservedMetadata},
		"Finalizer":   {"The inventory's finalizer is for records", "metadata: {name: a, finalizers: [truss.dev/inventory]}", resource.ReasonReservedMetadata},
		"Deletion":    {"The stamp of a delayed deletion", "metadata: {name: a, annotations: {smith.atlassian.com/deletionTimestamp: x}}", resource.ReasonReservedMetadata},
		"Namespace":   {"Identity is static", "metadata: {name: a, namespace: other}", "IdentityChanged"},
		"Permitted":   {"What authors may say", "metadata: {name: a, labels: {app: x}, annotations: {truss.dev/adopt: 'true'}}", ""},
		"ManagedByUs": {"The value that we would set is no contradiction", "metadata: {name: a, labels: {app.kubernetes.io/managed-by: truss}}", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(t, "{apiVersion: v1, kind: ConfigMap, "+tc.object+"}")
			var invalid *resource.InvalidError
			if got := errors.As(err, &invalid); got != (tc.want != "") || got && invalid.Reason != tc.want {
				t.Errorf("%s: Prepare() = %v, want reason %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestARenderMayNotChangeTheIdentity(t *testing.T) {
	id := resource.Identity{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	for _, text := range []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: a}}",
		"{apiVersion: apps/v1, kind: ConfigMap, metadata: {name: a}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}",
	} {
		var invalid *resource.InvalidError
		if _, err := Prepare(testOwner, id, parse(t, text), nil); !errors.As(err, &invalid) || invalid.Reason != "IdentityChanged" {
			t.Errorf("Prepare(%s) = %v, want IdentityChanged", text, err)
		}
	}
	if _, err := Prepare(testOwner, id, parse(t, "{apiVersion: v2, kind: ConfigMap, metadata: {name: a}}"), nil); err != nil {
		t.Errorf("the version is an attribute, yet: %v", err)
	}
}

func reference(uid string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "n-" + uid, UID: types.UID(uid)}
}

func uids(refs []metav1.OwnerReference) string {
	out := make([]string, len(refs))
	for i := range refs {
		out[i] = string(refs[i].UID)
		if refs[i].Controller != nil && *refs[i].Controller {
			out[i] += "!"
		}
	}
	return strings.Join(out, " ")
}

func TestChildrenReferToTheirOwnerAndTheirNeeds(t *testing.T) {
	text := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: x}]}}"
	d, err := prepare(t, text, reference("n1"), reference("x"), reference("n2"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := uids(d.Object.GetOwnerReferences()), "x owner-uid! n1 n2"; got != want {
		t.Errorf("references %q, want %q: the author's, the controller, the needs, and none twice, which the API server refuses", got, want)
	}
	many := make([]metav1.OwnerReference, 100)
	for i := range many {
		many[i] = reference(strconv.Itoa(i))
	}
	if d, err = prepare(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", many...); err != nil {
		t.Fatal(err)
	}
	if refs := d.Object.GetOwnerReferences(); len(refs) != 1+maxNeedReferences {
		t.Errorf("%d references, want the owner and the first %d needs", len(refs), maxNeedReferences)
	}
}

func TestOwnersInOtherNamespacesAreNotReferredTo(t *testing.T) {
	id := resource.Identity{Kind: "ConfigMap", Namespace: "elsewhere", Name: "a"}
	d, err := Prepare(testOwner, id, parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if refs := d.Object.GetOwnerReferences(); len(refs) > 0 {
		t.Errorf("references %v: the garbage collector deletes children of owners in other namespaces", refs)
	}
	cluster := *testOwner
	cluster.Namespace = ""
	if d, err = Prepare(&cluster, id, parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), nil); err != nil {
		t.Fatal(err)
	}
	if refs := d.Object.GetOwnerReferences(); len(refs) != 1 {
		t.Errorf("references %v: a cluster-scoped owner may have children anywhere", refs)
	}
	labels := d.Object.GetLabels()
	if !slices.Contains([]string{labels[resource.OwnerLabel]}, "owner-uid") || labels[resource.ManagerLabel] != "core" || labels[resource.SlotLabel] == "" {
		t.Errorf("labels %v lack the owner, manager or slot", labels)
	}
}
