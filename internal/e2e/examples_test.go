package e2e

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// uidOfTheDocument stands in the examples where the claim's own UID belongs.
const uidOfTheDocument = "038b49a6-e746-11e6-baf3-ee8d75af8f6e"

// applyExample applies a file of the examples with parts replaced.
func (w *world) applyExample(name string, replace ...string) {
	w.t.Helper()
	text, err := example(name)
	w.Expect(err).NotTo(HaveOccurred())
	w.apply(strings.NewReplacer(replace...).Replace(text))
}

func TestExampleCloudFormationIsGatedOnItsState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyExample("cloudformation-bundle.yaml")
	w.Eventually(w.state("cloudformation", "cfn")).Should(And(HavePrefix("InProgress"), ContainSubstring(`is not there yet`)))
	w.Expect(w.state("cloudformation", "app")()).To(Equal(`Blocked DependenciesNotReady: Not ready: ["cfn"]`))
	w.patch(formations, "cfn-1", `{"status":{"state":"Creating"}}`)
	w.Eventually(w.state("cloudformation", "cfn")).Should(ContainSubstring(`it is "Creating"`))
	w.Expect(w.gone(configMaps, "app")()).To(BeTrue(), "the dependant must not exist before the state is Ready")
	w.patch(formations, "cfn-1", `{"status":{"state":"Ready"}}`)
	w.ready("cloudformation")
	w.Expect(w.get(configMaps, "app").Object["data"]).To(Equal(map[string]any{"region": "eu-west-1", "found": "the stack is Ready"}))
}

// Both forms of the document's ResourceClaim share one CRD, so they are shown
// one after the other.
func TestExampleResourceClaim(t *testing.T) {
	w := newWorld(t)
	w.applyExample("crds.yaml")
	t.Run("IsGatedOnItsResourceBinding", func(t *testing.T) { exampleExists(newWorld(t)) })
	w.applyExample("resourceclaim-output-crd.yaml")
	t.Run("ContentsHashNameFlowsToADependantAndRotates", func(t *testing.T) { exampleOutput(newWorld(t)) })
}

func exampleExists(w *world) {
	w.applyExample("resourceclaim-bundle.yaml")
	w.Eventually(w.state("resourceclaim", "db")).Should(And(HavePrefix("InProgress"), ContainSubstring("ResourceBinding")))
	w.applyExample("resourcebinding.yaml", uidOfTheDocument, "00000000-0000-0000-0000-000000000000")
	w.Expect(w.state("resourceclaim", "db")()).To(HavePrefix("InProgress"), "N05: somebody else's binding")
	w.Expect(w.gone(configMaps, "app")()).To(BeTrue())
	w.applyExample("resourcebinding.yaml", uidOfTheDocument, string(w.get(claims, "dbclaim1").GetUID()))
	w.ready("resourceclaim")
	w.Expect(w.of(bound).Delete(w.t.Context(), "bindingfordbclaim1", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.state("resourceclaim", "db")).Should(HavePrefix("InProgress"), "N05: the binding went")
	w.Expect(w.gone(configMaps, "app")()).To(BeFalse(), "N19: a need that is not Ready any more deletes nothing")
}

func exampleOutput(w *world) {
	const first, second = "231864817236487163", "98a1f00d77"
	w.applyExample("output-bundle.yaml")
	w.Eventually(w.gone(claims, "dbclaim2")).Should(BeFalse())
	uid := string(w.get(claims, "dbclaim2").GetUID())
	mounted := func() any {
		d, err := w.of(deployments).Get(w.t.Context(), "app", metav1.GetOptions{})
		if err != nil {
			return nil
		}
		text, _ := d.MarshalJSON()
		_, rest, _ := strings.Cut(string(text), `"secretName":"`)
		name, _, _ := strings.Cut(rest, `"`)
		return name
	}
	w.applyExample("output.yaml", uidOfTheDocument, uid)
	w.Eventually(mounted).Should(Equal(first))
	w.ready("output")
	before := w.get(deployments, "app").GetUID()
	w.applyExample("output.yaml", uidOfTheDocument, uid, first, second, "godsexlove", "rotated")
	w.Eventually(mounted).Should(Equal(second), "N06: the dependant is rendered again with the new name")
	w.ready("output")
	w.Expect(w.of(secrets).Delete(w.t.Context(), first, metav1.DeleteOptions{})).To(Succeed()) // its controller's job
	w.Expect(w.get(deployments, "app").GetUID()).To(Equal(before), "the dependant was changed, not replaced")
	w.Consistently(mounted, "500ms").Should(Equal(second))
	w.ready("output")
}
