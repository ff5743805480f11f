package observer

import (
	"encoding/base64"
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// recordName is "<kind>-<owner UID>-<plan hash>".
var recordName = regexp.MustCompile(`^[a-z0-9]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9a-f]{10}$`)

// isRecord says that a key is one of Truss's inventory records, and no
// ControllerRevision of somebody else's or of a graph's own.
func isRecord(k key) bool {
	return k.group == inventory.GVR.Group && k.resource == inventory.GVR.Resource && recordName.MatchString(k.name)
}

// plan is a recorded plan, indexed.
type plan struct {
	namespaced bool // its owner is
	index      map[key]int
	keys       []key
	needs      [][]int
	dependants [][]int
}

// readPlan decodes a record; nil when it is none or cannot be read.
func readPlan(u *unstructured.Unstructured) *plan {
	format, _, err := unstructured.NestedInt64(u.Object, "data", "format")
	if err != nil {
		return nil
	}
	text, _, _ := unstructured.NestedString(u.Object, "data", "gz")
	compressed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	decoded, err := inventory.Decode(format, compressed)
	if err != nil {
		return nil
	}
	p := &plan{index: make(map[key]int, len(decoded.Entries)), namespaced: len(u.GetOwnerReferences()) > 0}
	p.keys = make([]key, len(decoded.Entries))
	p.needs = make([][]int, len(decoded.Entries))
	p.dependants = make([][]int, len(decoded.Entries))
	for i := range decoded.Entries {
		p.add(i, &decoded.Entries[i])
	}
	return p
}

func (p *plan) add(i int, e *inventory.Entry) {
	p.keys[i] = key{group: e.Group, resource: e.Resource, namespace: e.Namespace, name: e.Name}
	if e.Resource != "" { // else nothing of the kind was written
		p.index[p.keys[i]] = i
	}
	for _, n := range e.Needs {
		p.needs[i] = append(p.needs[i], int(n))
		p.dependants[n] = append(p.dependants[n], i)
	}
}

func (p *plan) has(k key) bool {
	_, found := p.index[k]
	return found
}

// activity reads what of a record changes.
func activity(u *unstructured.Unstructured) (active bool, generation int64) {
	for _, f := range u.GetFinalizers() {
		active = active || f == resource.InventoryFinalizer
	}
	generation, _ = strconv.ParseInt(u.GetAnnotations()[inventory.GenerationAnnotation], 10, 64) // 0 sorts last
	return active, generation
}
