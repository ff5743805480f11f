package observer

import (
	"fmt"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// managedConfigMap decodes, as a watch does, a small ConfigMap of one owner the
// way the API server stores it.
func managedConfigMap(t testing.TB, i int) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	err := u.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm-%d","namespace":"tenant","uid":"7f0c9f52-7b2b-4c4c-9a4e-%012d",
"resourceVersion":"%d","creationTimestamp":"2026-01-01T00:00:00Z",
"labels":{"app.kubernetes.io/managed-by":"truss","truss.dev/manager":"core","truss.dev/owner":"5b1f7f7c-4a55-4f8c-8a56-3e7dd0b60a11","truss.dev/slot":"17"},
"annotations":{"truss.dev/applied":"1:%064d:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE"},
"ownerReferences":[{"apiVersion":"smith.atlassian.com/v1","kind":"Bundle","name":"wide","uid":"5b1f7f7c-4a55-4f8c-8a56-3e7dd0b60a11","controller":true,"blockOwnerDeletion":true}],
"managedFields":[{"manager":"truss","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{},"f:b":{}},
"f:metadata":{"f:annotations":{".":{},"f:truss.dev/applied":{}},"f:labels":{".":{},"f:app.kubernetes.io/managed-by":{},"f:truss.dev/manager":{},"f:truss.dev/owner":{},"f:truss.dev/slot":{}},
"f:ownerReferences":{".":{},"k:{\"uid\":\"5b1f7f7c-4a55-4f8c-8a56-3e7dd0b60a11\"}":{}}}}},
{"manager":"kubectl","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:other":{}}}}}]},
"data":{"a":"value %d","b":"another value"}}`, i, i, 1000+i, i, i))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func fill(t testing.TB, n int) (*Store, float64) {
	t.Helper()
	before := heap()
	o := New(nil, Options{})
	s := o.Acquire(Key{Resource: configMaps})
	f := feed{s}
	for i := range n {
		if err := f.Add(managedConfigMap(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	return s, float64(heap()-before) / float64(n)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestStoredConfigMapIsSmall(t *testing.T) {
	const most = 2600 // bytes; the target of the whole system is 12 KB
	s, each := fill(t, 5000)
	t.Logf("%.0f bytes per ConfigMap", each)
	if each > most {
		t.Errorf("%.0f bytes per ConfigMap, more than %d", each, most)
	}
	if n := s.observer.transform.fields.len(); n != 1 {
		t.Errorf("5,000 equal field sets are stored %d times", n)
	}
	runtime.KeepAlive(s)
}

func TestUnusedFieldSetsAreDropped(t *testing.T) {
	table := newFieldTable()
	u := managedConfigMap(t, 1)
	f := fieldsFrom(managedFields(u.Object), DefaultManager, table)
	if g := fieldsFrom(managedFields(u.Object), DefaultManager, table); f != g {
		t.Error("equal entries share one set")
	}
	runtime.KeepAlive(f)
	for range 100 {
		runtime.GC()
		if table.len() == 0 {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d sets are kept though nobody uses them", table.len())
}

func BenchmarkAdd(b *testing.B) {
	o := New(nil, Options{})
	f := feed{o.Acquire(Key{Resource: configMaps})}
	u := managedConfigMap(b, 1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		u.SetResourceVersion(fmt.Sprint(i + 1))
		if err := f.Add(u); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOwns(b *testing.B) {
	u := managedConfigMap(b, 1)
	f := FieldsOf(u.Object, DefaultManager)
	desired := map[string]any{"data": u.Object["data"], "metadata": map[string]any{"labels": map[string]any{"truss.dev/slot": "17"}}}
	b.ReportAllocs()
	for b.Loop() {
		if missing := f.Owns(desired); len(missing) > 0 {
			b.Fatal(missing)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s, each := fill(b, 5000)
	b.ReportMetric(each, "B/object")
	b.ReportAllocs()
	for b.Loop() {
		if _, p := s.Get("tenant", "cm-17"); p == Absent {
			b.Fatal("absent")
		}
	}
}
