package observer

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
)

// bench is a store that is fed by hand.
type bench struct {
	t     *testing.T
	clock *testclock.FakeClock
	store *Store
	feed  feed
	told  []string
}

func newBench(t *testing.T, k Key) *bench {
	t.Helper()
	b := &bench{t: t, clock: testclock.NewFakeClock(time.Unix(1_700_000_000, 0))}
	o := New(nil, Options{Clock: b.clock, Handler: func(e Event) { b.told = append(b.told, describe(e)) }})
	b.store = o.Acquire(k)
	b.feed = feed{b.store}
	return b
}

func describe(e Event) string {
	switch {
	case e.Synced:
		return "synced"
	case e.Deleted:
		return "-" + e.Name
	}
	return "+" + e.Name + "@" + e.Object.GetResourceVersion()
}

// object makes a ConfigMap; labels come as pairs.
func object(name, uid, rv string, labels ...string) *unstructured.Unstructured {
	m := map[string]any{"name": name, "namespace": "ns", "uid": uid, "resourceVersion": rv}
	if len(labels) > 0 {
		l := map[string]any{}
		for i := 0; i < len(labels); i += 2 {
			l[labels[i]] = labels[i+1]
		}
		m["labels"] = l
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m}}
}

// step is one thing that happens to a store.
type step func(b *bench)

func event(u *unstructured.Unstructured) step   { return func(b *bench) { b.must(b.feed.Update(u)) } }
func deleted(u *unstructured.Unstructured) step { return func(b *bench) { b.must(b.feed.Delete(u)) } }
func response(u *unstructured.Unstructured) step {
	return func(b *bench) { b.store.Observe(u) }
}
func gone(uid, rv string) step {
	return func(b *bench) { b.store.ObserveDeleted("ns", "a", types.UID(uid), rv) }
}
func bookmark(rv string) step     { return func(b *bench) { b.must(b.feed.Bookmark(rv)) } }
func passed(d time.Duration) step { return func(b *bench) { b.clock.Step(d) } }
func list(version string, us ...*unstructured.Unstructured) step {
	return func(b *bench) {
		items := make([]any, len(us))
		for i := range us {
			items[i] = us[i]
		}
		b.must(b.feed.Replace(items, version))
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestViewIsTheNewerOfEventAndResponse(t *testing.T) {
	type want struct {
		rv       string
		presence Presence
	}
	absent := want{"", Absent}
	cases := map[string]struct {
		steps  []step
		want   want
		told   []string
		reason string
	}{
		"not synced": {nil, want{"", Unknown}, nil, "an empty cache that has listed nothing knows nothing"},
		"empty list": {[]step{list("10")}, absent, []string{"synced"}, "a list proves absence"},
		"response before sync": {[]step{response(object("a", "u", "5"))}, want{"5", Present}, nil,
			"a POST needs no synced cache"},
		"newer response": {[]step{list("10", object("a", "u", "9")), response(object("a", "u", "12"))}, want{"12", Present},
			[]string{"+a@9", "synced"}, "our write is seen before its event"},
		"older response": {[]step{list("10", object("a", "u", "9")), event(object("a", "u", "15")), response(object("a", "u", "12"))},
			want{"15", Present}, []string{"+a@9", "synced", "+a@15"}, "the watch was faster"},
		"late events": {[]step{list("10"), response(object("a", "u", "12")), event(object("a", "u", "11"))}, want{"12", Present},
			[]string{"synced"}, "an event older than our response changes nothing and wakes nobody"},
		"echo": {[]step{list("10"), response(object("a", "u", "12")), event(object("a", "u", "12"))}, want{"12", Present},
			[]string{"synced"}, "the echo of our write wakes nobody"},
		"longer version": {[]step{list("10"), response(object("a", "u", "999")), event(object("a", "u", "1000"))}, want{"1000", Present},
			[]string{"synced", "+a@1000"}, "versions compare as numbers, not as text"},
		"absent, response older than list": {[]step{response(object("a", "u", "9")), list("10")}, absent, []string{"-a", "synced"},
			"it was deleted before the list was made"},
		"absent, response at the list": {[]step{response(object("a", "u", "10")), list("10")}, absent, []string{"-a", "synced"},
			"the list at that version does not have it"},
		"absent, response newer than list": {[]step{response(object("a", "u", "11")), list("10")}, want{"11", Present}, []string{"synced"},
			"the list cannot know it yet"},
		"absent after events": {[]step{list("10", object("a", "u", "9")), list("20")}, absent, []string{"+a@9", "synced", "-a"},
			"a relist ends what events told"},
		"response after the list that lacks it": {[]step{list("10"), response(object("a", "u", "9"))}, absent, []string{"synced"},
			"the response is older than the list"},
		"response after the bookmark that passed it": {[]step{list("10"), bookmark("20"), response(object("a", "u", "15"))}, absent,
			[]string{"synced"}, "the watch has been past it and did not show it"},
		"deletion hides older responses": {[]step{list("10", object("a", "u", "9")), deleted(object("a", "u", "12")), response(object("a", "u", "11"))},
			absent, []string{"+a@9", "synced", "-a"}, "a lost race between a PATCH and a DELETE by others"},
		"created again": {[]step{list("10", object("a", "u", "9")), deleted(object("a", "u", "12")), response(object("a", "v", "13"))},
			want{"13", Present}, []string{"+a@9", "synced", "-a"}, "a newer object is not hidden"},
		"deletion older than response": {[]step{list("10", object("a", "u", "9")), response(object("a", "v", "13")), deleted(object("a", "u", "12"))},
			want{"13", Present}, []string{"+a@9", "synced"}, "the deletion was of the object before"},
		"live 404": {[]step{list("10", object("a", "u", "9")), gone("u", "")}, absent, []string{"+a@9", "synced"},
			"a 404 is proof without a version"},
		"late event after live 404": {[]step{list("10", object("a", "u", "9")), gone("u", ""), event(object("a", "u", "11"))}, absent,
			[]string{"+a@9", "synced"}, "a UID that is gone does not come back"},
		"new object after live 404": {[]step{list("10", object("a", "u", "9")), gone("u", ""), event(object("a", "v", "11"))}, want{"11", Present},
			[]string{"+a@9", "synced", "+a@11"}, "another UID does"},
		"DELETE of the object before": {[]step{list("10", object("a", "v", "9")), gone("u", "")}, want{"9", Present}, []string{"+a@9", "synced"},
			"the proof names another UID"},
		"proof without sync": {[]step{gone("u", "")}, absent, nil, "a live read needs no cache"},
		"replaced while the watch was cut": {[]step{list("10", object("a", "u", "9")), list("20", object("a", "v", "18"))}, want{"18", Present},
			[]string{"+a@9", "synced", "+a@18"}, "one event from the old UID to the new"},
		"versions do not compare": {[]step{list("x1", object("a", "u", "e1")), response(object("a", "u", "r1"))}, want{"r1", Unknown},
			[]string{"+a@e1", "synced"}, "one live read decides"},
		"live read decides": {[]step{list("x1", object("a", "u", "e1")), response(object("a", "u", "r1")), response(object("a", "u", "r1"))},
			want{"r1", Present}, []string{"+a@e1", "synced"}, "the version was read twice"},
		"event decides": {[]step{list("x1", object("a", "u", "e1")), response(object("a", "u", "r1")), event(object("a", "u", "r1"))},
			want{"r1", Present}, []string{"+a@e1", "synced"}, "the watch has arrived at the response"},
		"events alone need no order": {[]step{list("x1", object("a", "u", "e1")), event(object("a", "u", "e2"))}, want{"e2", Present},
			[]string{"+a@e1", "synced", "+a@e2"}, "the watch is ordered by itself"},
		"unordered event after response": {[]step{list("x1"), response(object("a", "u", "r1")), event(object("a", "u", "e2"))}, want{"r1", Unknown},
			[]string{"synced", "+a@e2"}, "it may be older or newer; users look again"},
		"lag": {[]step{list("10"), response(object("a", "u", "12")), passed(31 * time.Second)}, want{"12", Unknown}, []string{"synced"},
			"the cache is 30 s behind our response"},
		"lag, read again": {[]step{list("10"), response(object("a", "u", "12")), passed(31 * time.Second), response(object("a", "u", "12"))},
			want{"12", Present}, []string{"synced"}, "a live read is good for another 30 s"},
		"no lag": {[]step{list("10"), response(object("a", "u", "12")), event(object("a", "u", "12")), passed(time.Hour)}, want{"12", Present},
			[]string{"synced"}, "the watch caught up; silence is no lag"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Key{Resource: configMaps})
			for _, s := range c.steps {
				s(b)
			}
			item, presence := b.store.Get("ns", "a")
			got := want{presence: presence}
			if item.Object != nil {
				got.rv = item.Object.GetResourceVersion()
			}
			if got != c.want {
				t.Errorf("%s: got %v, want %v", c.reason, got, c.want)
			}
			if diff := cmp.Diff(c.told, b.told); diff != "" {
				t.Errorf("events: %s", diff)
			}
		})
	}
}

func TestObserveReturnsTheView(t *testing.T) {
	b := newBench(t, Key{Resource: configMaps})
	list("10", object("a", "u", "9"))(b)
	event(object("a", "u", "15"))(b)
	if got := b.store.Observe(object("a", "u", "12")).Object.GetResourceVersion(); got != "15" {
		t.Errorf("the watch was faster: got version %s", got)
	}
	u := object("b", "w", "16")
	u.Object["metadata"].(map[string]any)["managedFields"] = []any{}
	if got := b.store.Observe(u).Object; got.GetResourceVersion() != "16" || got.GetManagedFields() != nil {
		t.Errorf("the item is stored without managedFields, got %v", got)
	}
	if _, ok := u.Object["metadata"].(map[string]any)["managedFields"]; !ok {
		t.Error("the caller's object was modified")
	}
}

func TestResponsesTheWatchCannotSeeAreNotKept(t *testing.T) {
	cases := map[string]struct {
		key    Key
		object *unstructured.Unstructured
		kept   bool
		reason string
	}{
		"matching":        {Key{Selector: "m=core"}, object("a", "u", "5", "m", "core"), true, "the watch will deliver it"},
		"other label":     {Key{Selector: "m=core"}, object("a", "u", "5", "m", "x"), false, "no event would ever end it"},
		"other namespace": {Key{Namespace: "else"}, object("a", "u", "5"), false, "it belongs to another store"},
		"named":           {Key{Field: "metadata.name=a"}, object("a", "u", "5"), true, "it is the one"},
		"another name":    {Key{Field: "metadata.name=b"}, object("a", "u", "5"), false, "a named watch sees one object"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.key)
			if b.store.Observe(c.object).Object == nil {
				t.Error("the response itself is returned in any case")
			}
			if _, p := b.store.Get("ns", "a"); (p == Present) != c.kept {
				t.Errorf("%s: %v", c.reason, p)
			}
		})
	}
}

func TestResponseWithoutTheLabelLeavesTheStore(t *testing.T) {
	b := newBench(t, Key{Selector: "m=core"})
	list("10", object("a", "u", "9", "m", "core"))(b)
	response(object("a", "u", "12"))(b)
	if _, p := b.store.Get("ns", "a"); p != Absent {
		t.Errorf("the watch is about to say the same: %v", p)
	}
}

func TestTombstonesAreBounded(t *testing.T) {
	b := newBench(t, Key{Resource: configMaps})
	list("1")(b)
	for i := range 2 * tombstoneLimit {
		b.store.ObserveDeleted("ns", "n"+strconv.Itoa(i), "u", "2")
	}
	if n := len(b.store.graves.byName); n > tombstoneLimit {
		t.Errorf("%d tombstones are kept, the limit is %d", n, tombstoneLimit)
	}
	b.clock.Step(tombstoneLife)
	b.store.ObserveDeleted("ns", "last", "u", "3")
	if n := len(b.store.graves.byName); n != 1 {
		t.Errorf("%d tombstones are kept, all but one are too old", n)
	}
}

func TestOwnersAreIndexedWhetherControllerOrNot(t *testing.T) {
	owned := func(name, rv string, owners ...string) *unstructured.Unstructured {
		u := object(name, name, rv)
		refs := make([]any, 0, len(owners))
		for _, o := range owners {
			refs = append(refs, map[string]any{"apiVersion": "v1", "kind": "X", "name": o, "uid": o})
		}
		u.Object["metadata"].(map[string]any)["ownerReferences"] = refs
		return u
	}
	names := func(items []Item) (out []string) {
		for _, i := range items {
			out = append(out, i.Object.GetName())
		}
		return out
	}
	b := newBench(t, Key{Resource: configMaps})
	list("10", owned("c", "9", "o1"), owned("a", "9", "o1", "o2"), owned("b", "9", "o2"))(b)
	check := func(reason string, uid types.UID, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, names(b.store.ByOwner(uid))); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
	check("all references count, sorted by name", "o1", "a", "c")
	event(owned("c", "11", "o2"))(b)
	check("a reference was moved", "o1", "a")
	check("a reference was moved", "o2", "a", "b", "c")
	deleted(owned("a", "12", "o1", "o2"))(b)
	check("the last one is gone", "o1")
	response(owned("d", "13", "o1"))(b)
	check("our own response counts", "o1", "d")
	if diff := cmp.Diff([]string{"b", "c", "d"}, names(b.store.List())); diff != "" {
		t.Errorf("List is sorted: %s", diff)
	}
}

func TestStoreWithAnInvalidSelectorSaysSo(t *testing.T) {
	b := newBench(t, Key{Selector: "a in b"})
	if synced, err := b.store.Status(); synced || ReasonOf(err) != InvalidSelector {
		t.Errorf("got %v, %v", synced, err)
	}
}
