package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/internal/manager"
)

// These tests stop the manager, so they run before the parallel ones, which
// share it.

// diamond is a Bundle with an order, values and a Secret.
func diamond(color string) string {
	return bundleOf("app",
		configMap("top", "color: "+color, ""),
		`{name: left, references: [{name: c, resource: top, path: data.color}], spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: left}, data: {c: "!{c}"}}}}`,
		`{name: right, references: [{name: c, resource: top, path: data.color}], spec: {object: {apiVersion: v1, kind: Secret, metadata: {name: right}, stringData: {c: "!{c}"}}}}`,
		configMap("bottom", "k: v", "", "left", "right"))
}

// smaller is the diamond without its bottom and right.
func smaller(color string) string {
	return bundleOf("app",
		configMap("top", "color: "+color, ""),
		`{name: left, references: [{name: c, resource: top, path: data.color}], spec: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: left}, data: {c: "!{c}"}}}}`)
}

func TestARestartOfASettledManagerWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.apply(diamond("blue"))
	w.apply(bundleOf("custom", sleeper("gate", ""), configMap("after", "k: v", "", "gate")))
	w.Eventually(w.gone(sleepers, "gate")).Should(BeFalse())
	w.setStatus(sleepers, "gate", awake)
	w.settled("app")
	w.settled("custom")
	w.quiet()
	since := mark(t)
	restart(t, manager.Options{})
	w.Eventually(func() []string { return texts(requests(t, since, "")) }).ShouldNot(BeEmpty(), "it started")
	w.quiet()
	w.Expect(texts(writes(requests(t, since, w.ns)))).To(BeEmpty(), "N31, settled: a restart changes nothing")
	w.apply(diamond("red"))
	w.ready("app")
	w.Expect(w.field(configMaps, "left", "data", "c")()).To(Equal("red"), "and it is at work again")
}

// asked are the requests about the namespace of the test and about none, such
// as those for kinds: other tests' namespaces may still be going.
func (w *world) asked(since int64) []request {
	return slices.DeleteFunc(requests(w.t, since, ""), func(r request) bool {
		return r.ObjectRef.Namespace != "" && r.ObjectRef.Namespace != w.ns
	})
}

// quiet waits until the manager asks for nothing but watches and leases for
// longer than any pause between status writes.
func (w *world) quiet() {
	w.t.Helper()
	since, began := mark(w.t), time.Now()
	w.Eventually(func() bool {
		if len(w.asked(since)) > 0 {
			since, began = mark(w.t), time.Now()
		}
		return time.Since(began) > 800*time.Millisecond
	}).Should(BeTrue(), "the manager is not quiet")
}

func TestASettledSystemMakesNoRequest(t *testing.T) {
	w := newWorld(t)
	w.apply(diamond("blue"))
	w.settled("app")
	w.quiet()
	since := mark(t)
	w.patch(configMaps, "left", `{"metadata":{"annotations":{"touched":"by somebody"}}}`)
	w.Consistently(func() []string { return texts(w.asked(since)) }, "1500ms").Should(BeEmpty(), "watches and leases only")
}

// phase is a part of the life of a Bundle, to be reached from any crash.
type phase struct {
	name  string
	start func()
	done  func() bool
}

func (w *world) phases() []phase {
	at := func(text string) func() { return func() { w.apply(text) } }
	return []phase{
		{"create", at(diamond("blue")), w.stands("blue", "bottom", "left", "right", "top")},
		{"update", at(diamond("red")), w.stands("red", "bottom", "left", "right", "top")},
		{"prune", at(smaller("red")), w.stands("red", "left", "top")},
		{"delete", func() {
			w.Expect(w.of(bundles).Delete(w.t.Context(), "app", metav1.DeleteOptions{})).To(Succeed())
		}, func() bool { return w.gone(bundles, "app")() && len(w.children()) == 0 && w.records() == 0 }},
	}
}

// stands says that the Bundle is Ready, that these are all its objects and
// that the value has come down to them.
func (w *world) stands(color string, names ...string) func() bool {
	progress := fmt.Sprintf("%d/%d", len(names), len(names))
	return func() bool {
		b := w.bundle("app")
		return b.Status.ObservedGeneration == b.Generation && b.Status.Progress == progress && len(b.Status.ObjectsToDelete) == 0 &&
			slices.Equal(w.children(), names) && w.field(configMaps, "left", "data", "c")() == color
	}
}

// children are the names of the objects that carry the label of an owner.
func (w *world) children() []string {
	names := []string{}
	for _, r := range []string{"configmaps", "secrets"} {
		list, err := w.of(v1Resource("", r)).List(w.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=truss"})
		w.Expect(err).NotTo(HaveOccurred())
		for i := range list.Items {
			names = append(names, list.Items[i].GetName())
		}
	}
	slices.Sort(names)
	return names
}

func (w *world) records() int {
	list, err := w.of(revisions).List(w.t.Context(), metav1.ListOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	return len(list.Items)
}

// Every manager of this test dies at its k-th write, sent or not, and another
// one takes its place, until the work is done all the same.
func TestKilledAtAnyWriteItEndsInTheSameState(t *testing.T) {
	cases := map[string]struct {
		reason string
		writes int64
		sent   bool
	}{
		"First":        {"every write is the only one, and its answer is lost", 1, true},
		"SecondUnsent": {"one write each", 2, false},
		"Third":        {"two writes and one whose answer is lost", 3, true},
		"FourthUnsent": {"three writes each", 4, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			running.stop()
			t.Cleanup(func() { swap(t, manager.Options{}) })
			for _, p := range w.phases() {
				p.start()
				deaths := w.outlive(tc.writes, tc.sent, p.done)
				t.Logf("%s: %s: %d managers died", tc.reason, p.name, deaths)
			}
		})
	}
}

// outlive starts managers that die at their k-th write until done holds, and
// says how many died. The last one lives.
func (w *world) outlive(k int64, sent bool, done func() bool) (deaths int) {
	w.t.Helper()
	for range 60 {
		d := &death{writes: k, sent: sent}
		m, err := start(context.Background(), plane, manager.Options{}, d)
		w.Expect(err).NotTo(HaveOccurred())
		finished := false
		w.Eventually(func() bool {
			finished = !d.dead.Load() && done()
			return finished || d.dead.Load()
		}).Should(BeTrue(), "neither done nor dead")
		m.stop()
		if finished {
			return deaths
		}
		deaths++
	}
	w.t.Fatal("not done after 60 managers")
	return deaths
}

func TestALeaderHandsOverWithoutWritingAnything(t *testing.T) {
	w := newWorld(t)
	elected := manager.Options{LeaderElect: true, LeaseDuration: 2 * time.Second}
	first := restart(t, elected)
	w.apply(diamond("blue"))
	w.settled("app")
	second, err := start(context.Background(), plane, elected, nil)
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(second.stop)
	w.quiet()
	since := mark(t)
	first.stop()
	w.apply(diamond("red"))
	w.ready("app")
	w.Expect(w.field(configMaps, "left", "data", "c")()).To(Equal("red"), "N32: the other one goes on")
	for _, r := range texts(writes(requests(t, since, w.ns))) {
		w.Expect(r).NotTo(HavePrefix("create configmaps"), "nothing is made twice")
	}
}

func TestTeardownNeedsNeitherKindsNorTheManagerThatCreated(t *testing.T) {
	w := newWorld(t)
	const group = "gone.truss.dev"
	w.install(crd(group, "Vanishing", `smith.atlassian.com/SupportEnabled: "true"`))
	custom := "{name: custom, references: [{resource: a}], spec: {object: {apiVersion: gone.truss.dev/v1, kind: Vanishing, metadata: {name: v, annotations: {truss.dev/ready-when: Exists}}}}}"
	w.apply(bundleOf("app", configMap("a", "k: v", ""), custom, configMap("z", "k: v", "", "custom")))
	w.settled("app")
	running.stop()
	t.Cleanup(func() { swap(t, manager.Options{}) })
	w.uninstall("vanishings." + group)
	w.Eventually(func() error {
		_, err := w.client.Resource(crds).Get(t.Context(), "vanishings."+group, metav1.GetOptions{})
		return err
	}).Should(MatchError(ContainSubstring("not found")))
	since := mark(t)
	swap(t, manager.Options{})
	w.remove("app")
	w.Expect(w.children()).To(BeEmpty())
	w.Expect(w.records()).To(BeZero())
	w.Expect(deletions(requests(t, since, w.ns))).To(Equal([]string{"z", "a"}), "reverse order, around the kind that is gone")
}
