package e2e

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/graph/resource"
)

// toDelete are the names of a Bundle's objectsToDelete.
func (w *world) toDelete(bundle string) func() []string {
	return func() []string {
		names := []string{}
		for _, o := range w.bundle(bundle).Status.ObjectsToDelete {
			names = append(names, o.Kind+"/"+o.Name)
		}
		return names
	}
}

// sleeper is a resource that is Ready when its controller says Awake!.
func sleeper(name, more string, needs ...string) string {
	r := configMap(name, "", more, needs...)
	r = strings.Replace(r, "apiVersion: v1, kind: ConfigMap", "apiVersion: e2e.truss.dev/v1, kind: Sleeper", 1)
	return strings.Replace(r, "data: {}", "spec: {}", 1)
}

const awake = `{"state":"Awake!"}`

func TestPruneWaitsUntilAllIsReadyAndGoesInReverse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", configMap("a", "k: v", ""), configMap("b", "k: v", "", "a"), configMap("early", "k: v", "annotations: {truss.dev/prune: early}")))
	w.ready("app")
	since := mark(t)
	w.apply(bundleOf("app", sleeper("gate", "")))
	w.Eventually(w.toDelete("app")).Should(Equal([]string{"ConfigMap/a", "ConfigMap/b"}), "S10: listed, sorted; what asks for it goes early")
	w.Eventually(w.gone(configMaps, "early")).Should(BeTrue())
	w.Expect(w.gone(configMaps, "a")()).To(BeFalse(), "S10: nothing is deleted while the Bundle is not Ready")
	w.setStatus(sleepers, "gate", awake)
	w.settled("app")
	w.Expect(deletions(requests(t, since, w.ns))).To(Equal([]string{"early", "b", "a"}), "dependants go first")
	w.Expect(w.bundle("app").Status.ResourceStatuses).To(HaveLen(1), "N24: no stale status entry")
}

// deletions are the names of deleted objects but for the inventory, in order.
func deletions(all []request) []string {
	var out []string
	for _, r := range texts(writes(all)) {
		if parts := strings.Fields(r); len(parts) == 3 && parts[0] == "delete" && parts[1] != "controllerrevisions" {
			out = append(out, parts[2])
		}
	}
	return out
}

func TestSoftDeleteStampsWaitsAndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const delayed = "annotations: {smith.atlassian.com/deletionDelay: 1h}"
	keep, soft := configMap("keep", "k: v", ""), configMap("soft", "k: v", delayed)
	w.apply(bundleOf("app", keep, soft))
	w.ready("app")
	stamp := w.field(configMaps, "soft", "metadata", "annotations", resource.DeletionTimestampAnnotation)
	w.apply(bundleOf("app", keep))
	w.Eventually(stamp).ShouldNot(BeNil(), "S11: stamped, not deleted")
	w.Eventually(w.toDelete("app")).Should(Equal([]string{"ConfigMap/soft"}), "S12: postponed and listed")
	w.apply(bundleOf("app", keep, soft))
	w.Eventually(stamp).Should(BeNil(), "N18: wanted again")
	w.settled("app")
	w.apply(bundleOf("app", keep))
	w.Eventually(stamp).ShouldNot(BeNil())
	w.remove("app")
	w.Expect(w.gone(configMaps, "soft")()).To(BeTrue(), "deleting the Bundle ignores the delay")
}

func TestSoftDeleteEndsByItselfWithoutAnEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keep := configMap("keep", "k: v", "")
	w.apply(bundleOf("app", keep, configMap("soft", "k: v", "annotations: {smith.atlassian.com/deletionDelay: 1500ms}")))
	w.ready("app")
	began := time.Now()
	w.apply(bundleOf("app", keep))
	w.Eventually(w.gone(configMaps, "soft")).Should(BeTrue(), "S13, N18")
	w.Expect(time.Since(began)).To(BeNumerically(">=", 1500*time.Millisecond), "never before its time")
	w.settled("app")
}

func TestAnObjectOfSomebodyElseIsNeitherTouchedNorAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: taken}\ndata: {whose: theirs}")
	before := w.get(configMaps, "taken").GetResourceVersion()
	w.apply(bundleOf("app", configMap("taken", "whose: ours", ""), configMap("after", "k: v", "", "taken"), configMap("other", "k: v", "")))
	w.Eventually(w.state("app", "taken")).Should(And(HavePrefix("Error TerminalError: Collision"), ContainSubstring("truss.dev/adopt")))
	w.Eventually(w.state("app", "other")).Should(HavePrefix("Ready"), "S05: the other branch goes on")
	w.Expect(w.state("app", "after")()).To(Equal(`Blocked DependenciesNotReady: Not ready: ["taken"]`))
	w.Expect(w.get(configMaps, "taken").GetResourceVersion()).To(Equal(before))
	w.Expect(w.of(configMaps).Delete(t.Context(), "taken", metav1.DeleteOptions{})).To(Succeed())
	w.ready("app")
	w.Expect(w.field(configMaps, "taken", "data", "whose")()).To(Equal("ours"), "S94: made once the foreign object is gone, the Bundle untouched")
}

func TestAdoptionIsExplicitAndUndoneAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: orphan, labels: {team: a}}\ndata: {whose: theirs, extra: stays}")
	before := w.get(configMaps, "orphan").GetUID()
	w.apply(bundleOf("app", configMap("orphan", "whose: ours", `annotations: {truss.dev/adopt: "true"}`)))
	w.ready("app")
	orphan := w.get(configMaps, "orphan")
	w.Expect(orphan.GetUID()).To(Equal(before), "S93: adopted, not replaced")
	w.Expect(orphan.Object["data"]).To(Equal(map[string]any{"whose": "ours", "extra": "stays"}))
	w.Expect(metav1.GetControllerOf(orphan).Name).To(Equal("app"))
	w.remove("app")
	orphan = w.get(configMaps, "orphan")
	w.Expect(orphan.GetOwnerReferences()).To(BeEmpty(), "left without a trace of the owner")
	w.Expect(orphan.GetLabels()).To(Equal(map[string]string{"team": "a"}))
}

func TestAnObjectOfAnotherBundleIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("first", configMap("shared", "whose: first", "")))
	w.ready("first")
	w.apply(bundleOf("second", configMap("shared", "whose: second", `annotations: {truss.dev/adopt: "true"}`)))
	w.Eventually(w.state("second", "shared")).Should(And(HavePrefix("Error TerminalError: AdoptionRefused"), ContainSubstring(`Bundle "first"`)))
	w.Expect(w.field(configMaps, "shared", "data", "whose")()).To(Equal("first"))
	w.ready("first")
	w.remove("first")
	w.ready("second")
	w.Expect(w.field(configMaps, "shared", "data", "whose")()).To(Equal("second"), "N09: free once the first is gone")
}

func TestANeedThatIsNotReadyAnyMoreHoldsChangesBackAndDeletesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", sleeper("gate", ""), configMap("after", "v: one", "", "gate")))
	w.Eventually(w.gone(sleepers, "gate")).Should(BeFalse())
	w.setStatus(sleepers, "gate", awake)
	w.ready("app")
	w.setStatus(sleepers, "gate", `{"state":"Sleeping"}`)
	w.Eventually(w.state("app", "after")).Should(Equal(`Blocked DependenciesNotReady: Not ready: ["gate"]`))
	w.apply(bundleOf("app", sleeper("gate", ""), configMap("after", "v: two", "", "gate")))
	w.Eventually(w.state("app", "after")).Should(HavePrefix("Blocked"))
	w.Expect(w.field(configMaps, "after", "data", "v")()).To(Equal("one"), "N19")
	w.setStatus(sleepers, "gate", awake)
	w.ready("app")
	w.Expect(w.field(configMaps, "after", "data", "v")()).To(Equal("two"))
}

func TestDeletionWaitsUntilEachDependantIsReallyGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.apply(bundleOf("app", configMap("a", "k: v", ""), configMap("b", "k: v", "", "a"), configMap("c", "k: v", "finalizers: [example.com/hold]", "b"), configMap("x", "k: v", "")))
	w.ready("app")
	w.Expect(w.of(bundles).Delete(t.Context(), "app", metav1.DeleteOptions{})).To(Succeed())
	w.Eventually(w.gone(configMaps, "x")).Should(BeTrue(), "the other branch goes")
	w.Eventually(func() string { return w.bundle("app").Status.Message }).Should(And(ContainSubstring("ConfigMap"), ContainSubstring("c"), ContainSubstring("example.com/hold")), "who holds it is said")
	w.Expect(w.toDelete("app")()).To(Equal([]string{"ConfigMap/a", "ConfigMap/b", "ConfigMap/c"}))
	w.Consistently(w.gone(configMaps, "b"), "300ms").Should(BeFalse(), "N30: its dependant is not gone")
	w.patch(configMaps, "c", `{"metadata":{"finalizers":null}}`)
	w.Eventually(w.gone(bundles, "app")).Should(BeTrue())
	w.Expect(w.gone(configMaps, "a")()).To(BeTrue())
}
