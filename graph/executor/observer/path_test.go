package observer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathPrintsLikeKubectlExplain(t *testing.T) {
	cases := map[string]struct {
		path   Path
		want   string
		reason string
	}{
		"field":    {Path{{Field: "spec"}, {Field: "replicas"}}, ".spec.replicas", "plain names are joined by dots"},
		"key":      {Path{{Field: "containers"}, {Keys: []KeyField{{"name", "a"}}}, {Field: "image"}}, `.containers[name="a"].image`, "items of a map list are named by key"},
		"two keys": {Path{{Keys: []KeyField{{"containerPort", int64(80)}, {"protocol", "TCP"}}}}, `[containerPort=80,protocol="TCP"]`, "all keys are shown"},
		"label":    {Path{{Field: "labels"}, {Field: "a.b/c"}}, `.labels["a.b/c"]`, "a dot in a name must not look like two fields"},
		"value":    {Path{{Field: "finalizers"}, {Value: "x/y"}}, `.finalizers[="x/y"]`, "items of a set are named by value"},
		"index":    {Path{{Field: "list"}, {Index: 3}}, ".list[3]", "other items are named by position"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.path.String(); got != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
			}
		})
	}
}

func TestRemovePathTakesOnlyWhatIsNamed(t *testing.T) {
	desired := func() map[string]any {
		return map[string]any{"kind": "X", "spec": map[string]any{
			"replicas": int64(2),
			"list": []any{
				map[string]any{"name": "a", "image": "i"},
				map[string]any{"name": "b", "image": "j"},
			},
			"only": map[string]any{"child": "x"},
			"set":  []any{"x"},
		}}
	}
	cases := map[string]struct {
		path   Path
		want   func(spec map[string]any)
		reason string
	}{
		"field":      {Path{{Field: "spec"}, {Field: "replicas"}}, func(s map[string]any) { delete(s, "replicas") }, "a leaf goes"},
		"item field": {Path{{Field: "spec"}, {Field: "list"}, {Keys: []KeyField{{"name", "b"}}}, {Field: "image"}}, func(s map[string]any) { delete(s["list"].([]any)[1].(map[string]any), "image") }, "the other item keeps its image"},
		"item":       {Path{{Field: "spec"}, {Field: "list"}, {Keys: []KeyField{{"name", "a"}}}}, func(s map[string]any) { s["list"] = s["list"].([]any)[1:] }, "a whole item goes"},
		"emptied":    {Path{{Field: "spec"}, {Field: "only"}, {Field: "child"}}, func(s map[string]any) { delete(s, "only") }, "an emptied map would be claimed by an apply"},
		"set":        {Path{{Field: "spec"}, {Field: "set"}, {Value: "x"}}, func(s map[string]any) { delete(s, "set") }, "an emptied list goes too"},
		"absent":     {Path{{Field: "spec"}, {Field: "nothing"}, {Field: "here"}}, func(map[string]any) {}, "nothing to remove"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in, want := desired(), desired()
			c.want(want["spec"].(map[string]any))
			if diff := cmp.Diff(want, RemovePath(in, c.path)); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
			if diff := cmp.Diff(desired(), in); diff != "" {
				t.Errorf("the desired object was modified: %s", diff)
			}
		})
	}
}
