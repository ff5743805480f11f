package observer

import (
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	testclock "k8s.io/utils/clock/testing"
)

func TestWatchCutBy410RelistsAndTellsOneEventFromOldUIDToNew(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t, "10", object("a", "old", "9"), object("b", "b", "8"))
	seen := &log{}
	obs := New(api.cluster(t), Options{Handler: seen.add})
	k := Key{Resource: configMaps, Namespace: "ns"}
	s := obs.Acquire(k)
	runUntil(t, obs)
	g.Eventually(synced(s)).Should(BeTrue())

	api.set("20", object("a", "new", "18"))
	api.expire()
	g.Eventually(func() []string { return seen.lines(k) }, "10s").Should(Equal([]string{"+a", "+b", "+a", "-b"}))
	item, presence := s.Get("ns", "a")
	g.Expect(presence).To(Equal(Present))
	g.Expect(string(item.Object.GetUID())).To(Equal("new"))
	g.Expect(presenceOf(s, "ns", "b")()).To(Equal(Absent))
}

func TestFrozenWatchAsksForALiveReadAfterTheLag(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t, "10")
	clock := testclock.NewFakeClock(time.Now())
	obs := New(api.cluster(t), Options{Clock: clock})
	s := obs.Acquire(Key{Resource: configMaps, Namespace: "ns"})
	runUntil(t, obs)
	g.Eventually(synced(s)).Should(BeTrue())

	s.Observe(object("a", "u", "12"))
	g.Expect(presenceOf(s, "ns", "a")()).To(Equal(Present))
	clock.Step(lagLimit + time.Second)
	g.Expect(presenceOf(s, "ns", "a")()).To(Equal(Unknown))
	api.events <- `{"type":"ADDED","object":` + encode(object("a", "u", "12")) + `}`
	g.Eventually(presenceOf(s, "ns", "a")).Should(Equal(Present), "the watch thawed")
}

func TestKickRetriesAtOnce(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t, "10", object("a", "u", "9"))
	api.refuse(http.StatusNotFound)
	clock := testclock.NewFakeClock(time.Now()) // stands still: no backoff ends
	obs := New(api.cluster(t), Options{Clock: clock})
	s := obs.Acquire(Key{Resource: configMaps, Namespace: "ns"})
	other := obs.Acquire(Key{Resource: deployments, Namespace: "ns"})
	runUntil(t, obs)
	for _, s := range []*Store{s, other} {
		g.Eventually(func() Reason { _, err := s.Status(); return ReasonOf(err) }).Should(Equal(NoSuchResource))
	}
	g.Eventually(clock.HasWaiters).Should(BeTrue())

	api.refuse(0)
	obs.Kick(configMaps)
	g.Eventually(synced(s)).Should(BeTrue())
	g.Expect(presenceOf(s, "ns", "a")()).To(Equal(Present))
	g.Consistently(func() bool { ok, _ := other.Status(); return ok }, "100ms").Should(BeFalse(), "another resource was not kicked")
}

func TestLostResourceKeepsWhatItKnewAsUnknown(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t, "10", object("a", "u", "9"))
	obs := New(api.cluster(t), Options{})
	s := obs.Acquire(Key{Resource: configMaps, Namespace: "ns"})
	runUntil(t, obs)
	g.Eventually(synced(s)).Should(BeTrue())

	api.refuse(http.StatusNotFound)
	api.expire()
	g.Eventually(func() Reason { _, err := s.Status(); return ReasonOf(err) }, "5s").Should(Equal(NoSuchResource))
	ok, _ := s.Status()
	g.Expect(ok).To(BeFalse())
	item, presence := s.Get("ns", "a")
	g.Expect(presence).To(Equal(Unknown))
	g.Expect(item.Object).NotTo(BeNil(), "the last state known")
	g.Expect(presenceOf(s, "ns", "b")()).To(Equal(Unknown))

	s.Observe(object("c", "c", "30"))
	g.Expect(presenceOf(s, "ns", "c")()).To(Equal(Present), "our own write is proof of itself")
	api.refuse(0)
	api.set("20")
	g.Eventually(func() Presence {
		obs.Kick(configMaps)
		return presenceOf(s, "ns", "a")()
	}, "5s").Should(Equal(Absent))
	g.Expect(presenceOf(s, "ns", "c")()).To(Equal(Present), "newer than the list")
}

func TestObserverEndsAtOnceWhateverItsWatchesWaitFor(t *testing.T) {
	cases := map[string]struct {
		prepare func(api *fakeAPI)
		reason  string
	}{
		"watching":           {func(*fakeAPI) {}, "an open watch is cut"},
		"resource missing":   {func(api *fakeAPI) { api.refuse(http.StatusNotFound) }, "a backoff is left"},
		"connection refused": {func(api *fakeAPI) { api.Close() }, "client-go would wait up to a minute"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			api := newFakeAPI(t, "10")
			handle := api.cluster(t)
			c.prepare(api)
			before := goleak.IgnoreCurrent()
			obs := New(handle, Options{})
			s := obs.Acquire(Key{Resource: configMaps})
			end := runUntil(t, obs)
			g.Eventually(func() bool { ok, err := s.Status(); return ok || err != nil }, "10s").Should(BeTrue())
			g.Expect(end()).To(BeNumerically("<", 5*time.Second), c.reason)
			handle.Close()
			api.CloseClientConnections()
			g.Eventually(func() error { return goleak.Find(before) }, "10s").Should(Succeed())
		})
	}
}

func TestUnusedStoreStopsAfterTheIdleTimeout(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t, "10", object("a", "u", "9"))
	clock := testclock.NewFakeClock(time.Now())
	obs := New(api.cluster(t), Options{Clock: clock, IdleTimeout: time.Minute})
	k := Key{Resource: configMaps, Namespace: "ns"}
	s := obs.Acquire(k)
	g.Expect(obs.Acquire(k)).To(BeIdenticalTo(s), "equal keys share a store")
	runUntil(t, obs)
	g.Eventually(synced(s)).Should(BeTrue())
	open := func() int { n, _ := obs.Sizes(); return n }

	s.Release()
	clock.Step(time.Hour)
	g.Expect(open()).To(Equal(1), "one user is left")
	s.Release()
	clock.Step(59 * time.Second)
	g.Expect(obs.Acquire(k)).To(BeIdenticalTo(s), "it was not idle for long enough")
	clock.Step(time.Hour)
	g.Consistently(open, "50ms").Should(Equal(1), "it is in use again")
	s.Release()
	s.Release()
	clock.Step(time.Minute)
	g.Eventually(open).Should(Equal(0))
	g.Expect(obs.Acquire(k)).NotTo(BeIdenticalTo(s))
}

func TestRefusedWatchIsToldOncePerReason(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t, "10")
	api.refuse(http.StatusForbidden)
	seen := &log{}
	obs := New(api.cluster(t), Options{Handler: seen.add})
	s := obs.Acquire(Key{Resource: configMaps})
	runUntil(t, obs)
	g.Eventually(func() Reason { _, err := s.Status(); return ReasonOf(err) }).Should(Equal(WatchForbidden))
	asked := api.asked()
	g.Eventually(func() int { obs.Kick(configMaps); return api.asked() }, "5s").Should(BeNumerically(">", asked+4))
	seen.mu.Lock()
	defer seen.mu.Unlock()
	g.Expect(seen.events).To(HaveLen(1), "retries that fail alike wake nobody")
}

func TestWatchGoesOnWithoutAListWhenTheServerComesBack(t *testing.T) {
	g := NewWithT(t)
	api := newFakeAPI(t, "10", object("a", "u", "9"))
	clock := testclock.NewFakeClock(time.Now())
	obs := New(api.cluster(t), Options{Clock: clock})
	s := obs.Acquire(Key{Resource: configMaps, Namespace: "ns"})
	runUntil(t, obs)
	g.Eventually(synced(s)).Should(BeTrue())
	api.events <- `{"type":"MODIFIED","object":` + encode(object("a", "u", "11")) + `}`
	g.Eventually(func() string { item, _ := s.Get("ns", "a"); return item.Object.GetResourceVersion() }).Should(Equal("11"))

	api.refuse(http.StatusTooManyRequests)
	api.cut()
	g.Eventually(func() Reason { _, err := s.Status(); return ReasonOf(err) }).Should(Equal(WatchFailed))
	ok, _ := s.Status()
	g.Expect(ok).To(BeTrue(), "what was seen is old, not lost")
	g.Expect(presenceOf(s, "ns", "a")()).To(Equal(Present))
	api.refuse(0)
	obs.Kick(configMaps)
	api.events <- `{"type":"MODIFIED","object":` + encode(object("a", "u", "12")) + `}`
	g.Eventually(func() string { item, _ := s.Get("ns", "a"); return item.Object.GetResourceVersion() }).Should(Equal("12"))
	g.Expect(s.Status()).To(BeTrue())
	g.Expect(api.listed()).To(Equal(1))
}
