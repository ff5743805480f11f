package e2e

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const shop = `
apiVersion: smith.atlassian.com/v1
kind: Bundle
metadata: {name: shop}
spec:
  resources:
  - name: web
    references:
    - {name: color, resource: settings, path: data.color}
    spec:
      object:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: web}
        data: {paint: "all !{color}"}
  - name: settings
    spec:
      object:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: settings}
        data: {color: blue}
`

func TestBundleBecomesReadyInOrderAndGoesInReverse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	since := mark(t)
	w.apply(shop)
	w.ready("shop")
	w.Expect(w.get(configMaps, "web").Object["data"]).To(Equal(map[string]any{"paint": "all blue"}))
	w.remove("shop")
	w.Expect(w.gone(configMaps, "settings")()).To(BeTrue())
	var order []string
	for _, r := range texts(writes(requests(t, since, w.ns))) {
		kind, _, _ := strings.Cut(r, " bundle-")
		if kind != "patch bundles/status shop" && !slices.Contains(order, kind) {
			order = append(order, kind)
		}
	}
	w.Expect(order).To(Equal([]string{
		"patch bundles shop", "create controllerrevisions", "create configmaps settings", "create configmaps web",
		"delete configmaps web", "delete configmaps settings", "patch controllerrevisions", "delete controllerrevisions",
	}), "S01: the finalizer first, then the inventory; in reverse at the end")
}
