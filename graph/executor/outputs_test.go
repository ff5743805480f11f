package executor

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph/resource"
)

const binder = "{apiVersion: executor.example.com/v1, kind: Binder, metadata: {name: binder}}"

// bind plays the controller of Binders: it makes a Bond that names a Secret.
func (h *host) bind(uid, secret string) {
	h.t.Helper()
	h.create(fmt.Sprintf(`{apiVersion: executor.example.com/v1, kind: Bond, spec: {secretName: %s},
	  metadata: {name: bond, ownerReferences: [{apiVersion: executor.example.com/v1, kind: Binder, name: binder, uid: %s}]}}`, secret, uid))
}

func (h *host) secret(name, value string) {
	h.t.Helper()
	h.create("{apiVersion: v1, kind: Secret, metadata: {name: " + name + "}, stringData: {p: " + value + "}}")
}

func outputName(_ context.Context, in resource.Inputs) (string, error) {
	out, ok := in.Output("binder")
	if !ok {
		return "none", nil
	}
	return out.Kind + "/" + out.Name, nil
}

func outputData(ctx context.Context, in resource.Inputs) (string, error) {
	u, err := in.OutputObject(ctx, "binder")
	if err != nil {
		return "", err
	}
	coded, _, _ := unstructured.NestedString(u.Object, "data", "p")
	value, err := base64.StdEncoding.DecodeString(coded)
	return string(value), err
}

func TestOutputsReachTheDependantsAndFollowEveryChange(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.node(binder), reading(h.configMap("name", "", "binder"), outputName), reading(h.configMap("data", "", "binder"), outputData),
		h.configMap("static", "v", "binder"))
	g.Eventually(o.reason("binder"), patience, glance).Should(Equal("OwnedObjectMissing"))
	binders := bonds.GroupVersion().WithResource("binders")
	h.bind(string(h.get(binders, "binder").GetUID()), "s1")
	g.Eventually(o.reason("binder"), patience, glance).Should(Equal("OutputMissing"))
	g.Expect(o.states()).To(Equal("binder=InProgress name=Blocked data=Blocked static=Blocked"))
	h.secret("s1", "one")
	g.Eventually(h.value("name"), patience, glance).Should(Equal("Secret/s1"))
	g.Eventually(h.value("data"), patience, glance).Should(Equal("one"))
	g.Eventually(o.ready, patience, glance).Should(BeTrue())

	h.patch(secrets, "s1", "{stringData: {p: two}}")
	g.Eventually(h.value("data"), patience, glance).Should(Equal("two"), "the data of the output changed")

	h.secret("s2", "three")
	h.patch(bonds, "bond", "{spec: {secretName: s2}}")
	g.Eventually(h.value("name"), patience, glance).Should(Equal("Secret/s2"), "the name rotated")
	g.Eventually(h.value("data"), patience, glance).Should(Equal("three"))
	h.delete(secrets, "s1")
	g.Eventually(o.ready, patience, glance).Should(BeTrue())

	h.traffic.take()
	h.restart()
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	g.Expect(h.traffic.take(writes...)).To(BeEmpty())

	h.delete(secrets, "s2")
	g.Eventually(o.states, patience, glance).Should(Equal("binder=InProgress name=Blocked data=Blocked static=Blocked"))
	h.secret("s2", "four")
	g.Eventually(h.value("data"), patience, glance).Should(Equal("four"))
	h.delete(bonds, "bond")
	g.Eventually(o.reason("binder"), patience, glance).Should(Equal("OwnedObjectMissing"))
	g.Expect(o.names(configMaps)).To(Equal([]string{"data", "name", "static"}), "nothing is deleted for a need that is not ready")
}

func TestAnOutputWakesAGraphThatHasNoKindOfItsGroup(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t)
	o := h.owner("o")
	o.want(h.node(binder))
	g.Eventually(o.reason("binder"), patience, glance).Should(Equal("OwnedObjectMissing"))
	h.bind(string(h.get(bonds.GroupVersion().WithResource("binders"), "binder").GetUID()), "s1")
	g.Eventually(o.reason("binder"), patience, glance).Should(Equal("OutputMissing"))
	_, err := h.in(secrets).Create(h.ctx, parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: s1}}"), metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(o.ready, patience, glance).Should(BeTrue(), "nobody asked for the kind of Secrets before")
}
