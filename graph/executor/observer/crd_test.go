package observer

import (
	"context"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// installCRD creates a CRD and waits until its kind is served.
func (w *world) installCRD(text string) {
	w.t.Helper()
	crd := parse(w.t, text)
	crds := w.client.Dynamic.Resource(crdResource)
	if _, err := crds.Create(w.ctx, crd, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = crds.Delete(context.Background(), crd.GetName(), metav1.DeleteOptions{}) })
	w.waitServed(crd.GetName())
}

// waitServed waits until instances of a CRD can be listed.
func (w *world) waitServed(name string) {
	w.t.Helper()
	g := NewWithT(w.t)
	g.Eventually(func() error {
		crd, err := w.client.Dynamic.Resource(crdResource).Get(w.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		info, err := readCRD(crd)
		if err != nil {
			return err
		}
		w.cluster.InvalidateGroup(info.kind.Group)
		m, err := w.cluster.Mapping(info.kind, servedVersions(crd)[0])
		if err != nil {
			return err
		}
		_, err = w.client.Dynamic.Resource(m.Resource).List(w.ctx, metav1.ListOptions{Limit: 1})
		return err
	}, "20s", "50ms").Should(Succeed())
}
