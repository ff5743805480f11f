package readiness

import (
	"strings"
	"testing"
)

func TestParsePathRefusesAndSaysWhatToWrite(t *testing.T) {
	cases := map[string]struct {
		reason, expr, message string
	}{
		"Empty":           {"nothing", "", "write for example status.state"},
		"Root":            {"the whole object is no value", "{$}", "write for example status.state"},
		"Dot":             {"no field", "{.}", "write for example status.state"},
		"TrailingDot":     {"an empty field", "status.", "write for example status.state"},
		"B5 Recursive":    {"two million results from 30 levels", "{..n..n..n}", "recursive descent"},
		"RecursiveInside": {"anywhere", "status..state", "recursive descent"},
		"RecursiveInKey":  {"in a quoted key", "status['a..b']", "need a backslash"},
		"TextBeside":      {"text outside braces", "state: {.status.state}", "one expression"},
		"TextAfter":       {"text behind", "{.status.state}!", "one expression"},
		"Several":         {"two expressions: Smith's a}{.b", "a}{.b", "one expression"},
		"Range":           {"a loop", "{range .items[*]}{.x}{end}", "one expression"},
		"RangeAlone":      {"a keyword", "{range .items[*]}", "a literal or keyword"},
		"Literal":         {"a literal is no path", `{"Ready"}`, "a literal or keyword"},
		"LiteralBeside":   {"a literal beside a path", `.status"x"`, "a literal or keyword"},
		"Union":           {"a union: repeated, it multiplies results", "status['a','b']", "a union"},
		"UnionIndex":      {"of indexes", "list[0,0]", "a union"},
		"K8 Index":        {"CVE-2023-27483", "a[4294967295]", "outside -1024..1024"},
		"K8 Negative":     {"also backwards", "a[-4294967295]", "outside -1024..1024"},
		"HugeIndex":       {"beyond integers", "a[99999999999999999999]", "array index"},
		"Step":            {"no progress", "a[0:2:0]", "a step must be 1"},
		"S45 Unquoted":    {"fails now, not when the list is filled", "{$.status.conditions[?(@.type==Ready)].status}", `a text in a filter needs quotes`},
		"And":             {"one comparison", `c[?(@.a=="x" && @.b=="y")]`, "a filter compares one path"},
		"NestedFilter":    {"one level", `c[?(@.a[?(@.b)])]`, "cannot parse path"},
		"Operator":        {"no such operator", `c[?(@.a==="x")]`, `"===" is unknown`},
		"EmptyFilter":     {"nothing to compare", "c[?()]", "a filter compares"},
		"DottedKey":       {"read as two fields by kubectl", "metadata.annotations['a.b/c']", `write ['a\.b/c']`},
		"DoubleQuotes":    {"kubectl knows single quotes only", `a["b"]`, "single quotes"},
		"Unclosed":        {"no end", "a[0", "write for example"},
		"LineBreak":       {"one line", "a\n.b", "one expression"},
		"TooLong":         {"bounded length", strings.Repeat("a", 1025), "longer than 1024 bytes"},
		"TooDeep":         {"bounded segments", strings.Repeat(".a", 33), "33 segments, at most 32"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePath(c.expr)
			if err == nil {
				t.Fatalf("%s: ParsePath(%q) gives %s", c.reason, c.expr, p)
			}
			if !strings.Contains(err.Error(), c.message) {
				t.Errorf("%s: %q does not say %q", c.reason, err, c.message)
			}
		})
	}
}

func TestParsePathAdmitsItsLimits(t *testing.T) {
	for _, expr := range []string{strings.Repeat(".a", 32), "a[1024]", "a[-1024]", strings.Repeat("a", 1022), "a[0:2:1]", "a.*", "a[*]"} {
		if _, err := ParsePath(expr); err != nil {
			t.Errorf("ParsePath(%.40q): %v", expr, err)
		}
	}
}

func TestPathSaysItsFirstField(t *testing.T) {
	for expr, want := range map[string]string{"status.a": "status", "{$['metadata'].b": "", "['metadata'].b": "metadata", "[0].a": ""} {
		p, err := ParsePath(expr)
		if err != nil {
			if want != "" {
				t.Errorf("ParsePath(%q): %v", expr, err)
			}
			continue
		}
		if got := p.First(); got != want {
			t.Errorf("First of %q is %q, want %q", expr, got, want)
		}
	}
}
