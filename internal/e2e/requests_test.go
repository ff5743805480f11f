package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
)

// wide is a Bundle of n ConfigMaps, of which the last three read the first.
func wide(n int, root string) string {
	resources := make([]string, n)
	for i := range n {
		resources[i] = configMap(fmt.Sprintf("c%d", i), "k: v", "")
		if i == 0 {
			resources[i] = configMap("c0", "k: "+root, "")
		}
		if i >= n-3 {
			resources[i] = fmt.Sprintf("{name: c%[1]d, references: [{name: k, resource: c0, path: data.k}], spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c%[1]d}, data: {k: \"!{k}\"}}}}", i)
		}
	}
	return bundleOf("wide", resources...)
}

func TestTouchingOneOfManyCostsWorkForItAndItsDependantsOnly(t *testing.T) {
	w := newWorld(t) // not parallel: it waits for the manager to be quiet
	const n = 500
	since := mark(t)
	w.apply(wide(n, "v"))
	w.settled("wide")
	w.Expect(count(requests(t, since, w.ns), "create configmaps")).To(Equal(n), "one request per child")
	w.Expect(len(writes(requests(t, since, w.ns)))).To(BeNumerically("<=", n+4), "guard, inventory, status and no more than one report of progress")
	status, err := json.Marshal(w.bundle("wide").Status)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(len(status)).To(BeNumerically("<", 2<<10), "of more than 200 only those not Ready are listed")
	w.quiet()

	since = mark(t)
	w.patch(configMaps, "c1", `{"data":{"k":"drift"}}`)
	w.Eventually(w.field(configMaps, "c1", "data", "k")).Should(Equal("v"))
	w.quiet()
	w.Expect(texts(requests(t, since, w.ns))).To(Equal([]string{"get configmaps c1", "patch configmaps c1", "patch configmaps c1"}),
		"one look, and two writes for a first change")

	since = mark(t)
	w.patch(configMaps, "c1", `{"data":{"k":"again"}}`)
	w.Eventually(w.field(configMaps, "c1", "data", "k")).Should(Equal("v"))
	w.quiet()
	w.Expect(texts(requests(t, since, w.ns))).To(Equal([]string{"get configmaps c1", "patch configmaps c1"}), "one write for each later change")

	since = mark(t)
	w.patch(configMaps, "c0", `{"metadata":{"annotations":{"note":"n"}}}`)
	w.quiet()
	w.Expect(writes(requests(t, since, w.ns))).To(BeEmpty(), "its dependants read another field")

	since = mark(t)
	w.apply(wide(n, "other"))
	w.Eventually(w.field(configMaps, "c499", "data", "k")).Should(Equal("other"))
	w.quiet()
	var touched []string
	for _, r := range requests(t, since, w.ns) {
		if r.ObjectRef.Resource == "configmaps" && !slices.Contains(touched, r.ObjectRef.Name) {
			touched = append(touched, r.ObjectRef.Name)
		}
	}
	w.Expect(touched).To(ConsistOf("c0", "c497", "c498", "c499"), "the value's dependants and nothing else")
	w.Expect(count(requests(t, since, w.ns), "patch configmaps")).To(Equal(8), "two writes for a first change")
	w.remove("wide")
	w.Expect(count(requests(t, since, w.ns), "delete configmaps")).To(Equal(n))
}

// count is how many requests begin with a text.
func count(all []request, prefix string) int {
	n := 0
	for _, r := range texts(all) {
		if len(r) >= len(prefix) && r[:len(prefix)] == prefix {
			n++
		}
	}
	return n
}
