package observer

import (
	"encoding/json"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object with managedFields, one entry per argument: manager, operation,
// subresource, fieldsV1.
func managed(t *testing.T, entries ...[4]string) map[string]any {
	t.Helper()
	var list []any
	for _, e := range entries {
		var set map[string]any
		if err := json.Unmarshal([]byte(e[3]), &set); err != nil {
			t.Fatal(err)
		}
		m := map[string]any{"manager": e[0], "operation": e[1], "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": set}
		if e[2] != "" {
			m["subresource"] = e[2]
		}
		list = append(list, m)
	}
	return map[string]any{"metadata": map[string]any{"name": "x", "managedFields": list}}
}

func TestOwnsNamesExactlyWhatIsNotOurs(t *testing.T) {
	const ours = `{"f:metadata":{"f:labels":{".":{},"f:a.b/c":{}},"f:finalizers":{".":{},"v:\"x/y\"":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"u1\"}":{}}},
	"f:spec":{"f:replicas":{},"f:args":{},"f:selector":{},"f:list":{".":{},"i:0":{}},"f:numbers":{".":{},"v:1":{},"v:2.5":{},"v:true":{}},
	"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}},"k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{},"f:name":{}}}}}`
	cases := map[string]struct {
		desired string
		want    string
		reason  string
	}{
		"all":             {`{metadata: {labels: {a.b/c: v}}, spec: {replicas: 3}}`, "", "values are not compared"},
		"identity":        {`{apiVersion: v1, kind: X, metadata: {name: x, namespace: y, uid: z, resourceVersion: "1"}}`, "", "never in managedFields"},
		"leaf":            {`{spec: {replicas: 3, paused: true}}`, ".spec.paused", "only what is missing"},
		"label":           {`{metadata: {labels: {a.b/c: v, d: w}}}`, ".metadata.labels.d", "map keys are told apart"},
		"missing map":     {`{spec: {other: {b: 1, a: {c: 2}}}}`, ".spec.other.a.c\n.spec.other.b", "its leaves, sorted"},
		"atomic list":     {`{spec: {args: [p, q]}}`, "", "a list owned as a whole"},
		"atomic map":      {`{spec: {selector: {matchLabels: {deep: x}}}}`, "", "a map owned as a whole"},
		"list not ours":   {`{spec: {lost: [{name: a, image: b}]}}`, ".spec.lost", "nothing is known of how its items are told apart"},
		"nothing to lose": {`{spec: {lost: [], gone: {}, none: null}, status: {}}`, "", "nulls and empty values own nothing"},
		"default key":     {`{spec: {ports: [{containerPort: 80}]}}`, "", "a key field that is absent is a wildcard"},
		"exact key":       {`{spec: {ports: [{containerPort: 80, protocol: UDP, name: dns}]}}`, "", "an item with all keys is preferred"},
		"item field":      {`{spec: {ports: [{containerPort: 80, protocol: TCP, name: web}]}}`, `.spec.ports[containerPort=80,protocol="TCP"].name`, "one field of an item"},
		"item":            {`{spec: {ports: [{containerPort: 81}]}}`, `.spec.ports[containerPort=81]`, "a whole item"},
		"set value":       {`{metadata: {finalizers: [x/y, z]}}`, `.metadata.finalizers[="z"]`, "items of a set by value"},
		"set numbers":     {`{spec: {numbers: [1.0, 2.5, true]}}`, "", "1 and 1.0 are the same value"},
		"index":           {`{spec: {list: [a, b]}}`, ".spec.list[1]", "items by position"},
		"owner":           {`{metadata: {ownerReferences: [{uid: u1, name: n, kind: K, apiVersion: v1}]}}`, "", "an empty set covers all of the item"},
		"other owner":     {`{metadata: {ownerReferences: [{uid: u2, name: n}]}}`, `.metadata.ownerReferences[uid="u2"]`, "another item is not covered"},
	}
	f := FieldsOf(managed(t, [4]string{"truss", "Update", "", ours}), "truss")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			desired := parse(t, "{apiVersion: v1, kind: X}").Object
			maps.Copy(desired, parse(t, c.desired[:1]+"kind: X, "+c.desired[1:]).Object)
			if got := lines(f.Owns(desired)); got != c.want {
				t.Errorf("%s: got\n%s\nwant\n%s", c.reason, got, c.want)
			}
		})
	}
}

func TestFieldsAreTheUnionOfOurEntriesWithoutSubresources(t *testing.T) {
	a, b := `{"f:data":{"f:a":{}}}`, `{"f:data":{"f:b":{}}}`
	u := managed(t,
		[4]string{"kubectl", "Apply", "", `{"f:data":{"f:theirs":{}}}`},
		[4]string{"truss", "Apply", "", a},
		[4]string{"truss", "Update", "status", `{"f:data":{"f:status":{}}}`},
		[4]string{"truss", "Update", "", b})
	f := FieldsOf(u, "truss")
	if missing := lines(f.Owns(map[string]any{"data": map[string]any{"a": "1", "b": "2", "status": "3", "theirs": "4"}})); missing != ".data.status\n.data.theirs" {
		t.Errorf("got %s", missing)
	}
	apply, ok := f.Entry(metav1.ManagedFieldsOperationApply)
	if !ok || apply.Index != 1 {
		t.Errorf("the index is that of the server's list, got %+v", apply)
	}
	if updated, _ := f.Entry(metav1.ManagedFieldsOperationUpdate); updated.Index != 3 {
		t.Errorf("got %+v", updated)
	}
}

func TestDigestChangesWithTheFieldSetAlone(t *testing.T) {
	digest := func(entries ...[4]string) Digest { return FieldsOf(managed(t, entries...), "truss").Digest() }
	a, b, both := `{"f:data":{".":{},"f:a":{}}}`, `{"f:data":{".":{},"f:b":{}}}`, `{"f:data":{".":{},"f:a":{},"f:b":{}}}`
	base := digest([4]string{"truss", "Update", "", both})
	cases := map[string]struct {
		got    Digest
		same   bool
		reason string
	}{
		"migrated":  {digest([4]string{"truss", "Apply", "", both}), true, "Update became Apply, the fields are the same"},
		"moved":     {digest([4]string{"x", "Update", "", a}, [4]string{"truss", "Update", "", both}), true, "another manager came in front"},
		"split":     {digest([4]string{"truss", "Apply", "", a}, [4]string{"truss", "Update", "", b}), true, "the union counts"},
		"lost":      {digest([4]string{"truss", "Update", "", a}), false, "a field was taken away"},
		"taken all": {digest([4]string{"x", "Update", "", both}), false, "nothing is ours"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if (c.got == base) != c.same {
				t.Errorf("%s: same is %v", c.reason, c.got == base)
			}
		})
	}
}

func TestUnreadableEntryCountsAsHolder(t *testing.T) {
	entry := func(raw string) []metav1.ManagedFieldsEntry {
		set := &metav1.FieldsV1{}
		set.SetRawBytes([]byte(raw))
		return []metav1.ManagedFieldsEntry{{Manager: "m", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: set}}
	}
	path := Path{{Field: "spec"}, {Field: "replicas"}}
	cases := map[string]struct {
		raw    string
		holds  bool
		reason string
	}{
		"unreadable":  {`[`, true, "what is not understood is not taken away"},
		"empty":       {`{}`, false, "it has nothing"},
		"other field": {`{"f:spec":{"f:paused":{}}}`, false, "siblings do not matter"},
		"below":       {`{"f:spec":{"f:replicas":{"f:x":{}}}}`, true, "it has a part of it"},
		"above":       {`{"f:spec":{}}`, true, "it has the whole"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := len(Holders(entry(c.raw), path)) == 1; got != c.holds {
				t.Errorf("%s: %v", c.reason, got)
			}
		})
	}
}
