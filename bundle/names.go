package bundle

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/resource"
)

// maxSpec is what a spec may weigh: with its status a Bundle must fit the
// 1.5 MiB of one etcd request.
const maxSpec = 1 << 20

// Approximate bytes of JSON around a resource and around a reference:
// {"name":"","references":[],"spec":{"object":}}, and the like.
const (
	resourceOverhead  = 48
	referenceOverhead = 64
)

// SpecSize estimates, within a few percent, the bytes of a Bundle's spec in
// JSON. O(number of resources and references): nothing is encoded.
func SpecSize(b *v1.Bundle) int {
	total := 0
	for i := range b.Spec.Resources {
		r := &b.Spec.Resources[i]
		total += len(r.Name) + resourceOverhead
		if r.Spec.Object != nil {
			total += len(r.Spec.Object.Raw)
		}
		for j := range r.References {
			ref := &r.References[j]
			total += len(ref.Name) + len(ref.Resource) + len(ref.Path) + len(ref.Modifier) + referenceOverhead
			if ref.Example != nil {
				total += len(ref.Example.Raw)
			}
		}
	}
	return total
}

// checkSize refuses specs that leave no room for their status.
func (c *compiler) checkSize() {
	size := SpecSize(c.bundle)
	if size <= maxSpec || len(c.entries) == 0 {
		return
	}
	c.problems = append(c.problems, problem{index: -1, err: &resource.InvalidError{
		Reason:  ReasonTooLarge,
		Field:   "spec.resources",
		Message: fmt.Sprintf("the spec has about %d KiB, more than the 1024 KiB a Bundle can hold; split it over several Bundles", size>>10),
	}})
}

// checkNames indexes the resources and refuses names that are wrong or used
// twice. The first resource of a name keeps it.
func (c *compiler) checkNames() {
	for _, e := range c.entries {
		name := e.source.Name
		if faults := validation.IsDNS1123Subdomain(name); len(faults) > 0 {
			c.refuse(e, ReasonInvalidName, e.field(".name"),
				"%q is not the name of a resource; use lower-case letters, digits, '-' and '.', at most 253", excerpt(name))
		}
		if _, taken := c.byName[name]; taken {
			e.duplicate = true
			c.refuse(e, ReasonDuplicateResource, e.field(".name"),
				"bundle contains two resources with the same name %q; rename one", excerpt(name))
			continue
		}
		c.byName[name] = e
	}
}
