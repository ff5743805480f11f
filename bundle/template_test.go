package bundle

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustParse(t *testing.T, object map[string]any) *template {
	t.Helper()
	parsed, errs := parseTemplate(object)
	if len(errs) != 0 {
		t.Fatalf("cannot parse: %v", errs[0].err)
	}
	return parsed
}

func TestRenderCopiesOnlyBranchesWithPlaceholders(t *testing.T) {
	static := map[string]any{"large": []any{"a"}}
	object := map[string]any{"static": static, "dynamic": map[string]any{"list": []any{"x", "!{x}"}, "kept": static}}
	parsed := mustParse(t, object)
	live := map[string]any{"inner": []any{int64(1)}}
	got, err := parsed.render(map[string]value{"x": {data: live}})
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	dynamic, _ := got["dynamic"].(map[string]any)
	list, _ := dynamic["list"].([]any)
	if !same(got["static"], static) || !same(dynamic["kept"], static) {
		t.Error("a static branch was copied")
	}
	if same(got, object) || same(dynamic, object["dynamic"]) || same(list[1], live) {
		t.Error("a branch with a placeholder, or the live object, is shared with the result")
	}
	want := map[string]any{"static": static, "dynamic": map[string]any{"list": []any{"x", "!{x}"}, "kept": static}}
	if diff := cmp.Diff(want, parsed.object); diff != "" {
		t.Errorf("the template was modified (-want +got):\n%s", diff)
	}
	again, err := parsed.render(map[string]value{"x": {data: "other"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(live, list[1]); diff != "" || reflect.DeepEqual(got, again) {
		t.Errorf("a later render changed an earlier one: %s", diff)
	}
}

func TestRenderWithoutPlaceholdersSharesTheObject(t *testing.T) {
	parsed := mustParse(t, map[string]any{"a": "!!{x}"})
	first, _ := parsed.render(nil)
	second, _ := parsed.render(nil)
	if reflect.ValueOf(first).Pointer() != reflect.ValueOf(second).Pointer() || first["a"] != "!{x}" {
		t.Errorf("a static object is copied by each render, or keeps its escape: %v", first)
	}
}

func TestRenderIsBounded(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	cases := map[string]struct {
		reason string
		field  any
		data   any
	}{
		"Whole":  {"A value that is repeated", []any{"!{x}", "!{x}", "!{x}"}, big},
		"Inside": {"The same inside longer strings", "!{x} !{x} !{x}", big},
		"Nested": {"Lists of nothing count, too", []any{"!{x}", "!{x}"}, make([]any, 100_000)},
		"Keys":   {"So do keys", []any{"!{x}", "!{x}", "!{x}"}, map[string]any{big: nil}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed := mustParse(t, map[string]any{"f": tc.field})
			if _, err := parsed.render(map[string]value{"x": {data: tc.data}}); !errors.Is(err, errTooMuch) {
				t.Errorf("N26: %s: got error %v", tc.reason, err)
			}
		})
	}
}

func TestPrintedValuesAreThoseOfJSON(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     any
		want   string
		err    string
	}{
		"String":   {"As it is", "a \"b\"", `a "b"`, ""},
		"Bool":     {"A word", true, "true", ""},
		"Int":      {"All digits", int64(math.MaxInt64), "9223372036854775807", ""},
		"Float":    {"Shortest form", 1.5, "1.5", ""},
		"Whole":    {"A float that is whole has no point", 3.0, "3", ""},
		"Large":    {"As JSON has it", 1e21, "1e+21", ""},
		"Infinite": {"N26: what JSON cannot hold", math.Inf(1), "", "unsupported value"},
		"Null":     {"Null says nothing", nil, "", "it is null"},
		"Map":      {"A map has no one text", map[string]any{"secret": "s3cret"}, "", "it is a map"},
		"List":     {"Nor has a list", []any{"s3cret"}, "", "it is a list"},
		"Foreign":  {"N26: nothing that is not JSON", struct{ s string }{"s3cret"}, "", "it is a Go struct"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := printed(tc.in)
			if got != tc.want || (err == nil) != (tc.err == "") {
				t.Fatalf("%s: got %q, %v", tc.reason, got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("%s: message %q, want %q and no value", tc.reason, err, tc.err)
			}
		})
	}
}

func TestCopiesAreOfJSONOnly(t *testing.T) {
	left := budget(1000)
	if _, err := copyOf(map[string]any{"a": []any{int32(3)}}, &left); err == nil {
		t.Error("N26: a Go value that is not JSON was let into an object; later code would panic over it")
	}
}

func TestFieldPathsCanBeRead(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"a.b/c": []any{map[string]any{"": "!{x}"}}, "plain": "!{x}"}}
	parsed := mustParse(t, object)
	var got []string
	for _, s := range parsed.slots {
		got = append(got, fieldPath(s.path))
	}
	if diff := cmp.Diff([]string{`.spec["a.b/c"][0][""]`, ".spec.plain"}, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestRendersMayRunAtOnce(t *testing.T) {
	parsed := mustParse(t, map[string]any{"a": []any{"!{x}", "b !{x}"}, "static": map[string]any{}})
	live := map[string]any{"k": "v"}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := parsed.render(map[string]value{"x": {data: live}}); err == nil {
				t.Error("a map was printed into a string")
			}
			got, err := parsed.render(map[string]value{"x": {data: "v"}})
			if err != nil {
				t.Error(err)
				return
			}
			// What a caller does to its own branches must not reach others.
			got["a"].([]any)[0] = "changed"
		})
	}
	group.Wait()
}
