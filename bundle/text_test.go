package bundle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTextFindsPlaceholders(t *testing.T) {
	lit := func(s string) part { return part{literal: s} }
	ref := func(s string) part { return part{reference: s} }
	cases := map[string]struct {
		reason string
		in     string
		want   text
	}{
		"Empty":      {"Nothing to find", "", text{lit("")}},
		"Plain":      {"Braces and marks alone mean nothing", "a {x} ! $!b", text{lit("a {x} ! $!b")}},
		"Whole":      {"S32: the whole string", "!{x}", text{ref("x")}},
		"Adjacent":   {"Two references side by side", "!{a}!{b}", text{ref("a"), ref("b")}},
		"Inside":     {"Design 7: inside a longer string", "http://!{host}:!{port}/", text{lit("http://"), ref("host"), lit(":"), ref("port"), lit("/")}},
		"Name":       {"Smith's names: upper case, dots, dashes", "!{A.b-c}", text{ref("A.b-c")}},
		"Literal":    {"N34: two marks are the text", "!!{x}", text{lit("!{x}")}},
		"MoreMarks":  {"N34: of more marks one goes", "!!!{x}", text{lit("!!{x}")}},
		"Both":       {"N34: a literal beside a reference", "!!{x}!{y}", text{lit("!{x}"), ref("y")}},
		"Open":       {"N34: a literal need not be closed", "a!!{", text{lit("a!{")}},
		"LiteralRef": {"N34: a reference within literal braces", "!!{!{x}}", text{lit("!{"), ref("x"), lit("}")}},
		"Unicode":    {"Bytes that are no ASCII are kept", "é!{x}é", text{lit("é"), ref("x"), lit("é")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseText(tc.in)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(part{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParseTextRefusesWhatIsNoPlaceholder(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
	}{
		"Open":     {"A brace that is not closed is a slip", "a !{x"},
		"Empty":    {"No name", "!{}"},
		"Space":    {"A name has no spaces", "!{ x }"},
		"Newline":  {"Smith took anything up to the last brace", "!{x\n}"},
		"Two":      {"Smith read one reference named a}-!{b; the second is wrong here", "!{a}-!{b_}"},
		"TooLong":  {"Names end at 253", "!{" + strings.Repeat("x", 254) + "}"},
		"Path":     {"A path is no name", "!{db.status[0]}"},
		"Brackets": {"Shell tests are not references", "if !{ true; }"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseText(tc.in)
			if err == nil {
				t.Fatalf("%s: got %v", tc.reason, got)
			}
			if !strings.Contains(err.Error(), "!!{") || len(err.Error()) > 300 {
				t.Errorf("%s: the error gives no remedy, or is too long: %v", tc.reason, err)
			}
		})
	}
}

// written is the inverse of parseText.
func written(t text) string {
	var b strings.Builder
	for _, p := range t {
		if p.reference != "" {
			b.WriteString("!{" + p.reference + "}")
			continue
		}
		b.WriteString(strings.ReplaceAll(p.literal, "!{", "!!{"))
	}
	return b.String()
}

func FuzzSubstitute(f *testing.F) {
	for _, seed := range []string{"", "!{x}", "!!{x}", "a!!!{x}!{y}b", "!!{!{x}}", "!{x", "!{é}", "}!{"} {
		f.Add(seed, "value")
	}
	f.Fuzz(func(t *testing.T, s, v string) {
		// Any text can be written as a literal.
		literal, err := parseText(strings.ReplaceAll(s, "!{", "!!{"))
		if err != nil || !literal.static() || literal.literal() != s {
			t.Fatalf("%q does not survive its escape: %v, %v", s, literal, err)
		}
		parsed, err := parseText(s)
		if err != nil {
			return
		}
		if back := written(parsed); back != s {
			t.Fatalf("%q was parsed as what is written %q", s, back)
		}
		checkRender(t, s, v, parsed)
	})
}

// checkRender renders s as a field and compares it with plain replacement.
func checkRender(t *testing.T, s, v string, parsed text) {
	t.Helper()
	object, errs := parseTemplate(map[string]any{"spec": []any{map[string]any{"a": s}}, "static": map[string]any{}})
	if len(errs) != 0 {
		t.Fatalf("the field is refused, its text is not: %v", errs[0].err)
	}
	values, want := map[string]value{}, ""
	for _, p := range parsed {
		want += p.literal
		if p.reference != "" {
			values[p.reference] = value{data: v}
			want += v
		}
	}
	got, err := object.render(values)
	if err != nil {
		t.Fatalf("cannot render %q: %v", s, err)
	}
	wanted := map[string]any{"spec": []any{map[string]any{"a": want}}, "static": map[string]any{}}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Fatalf("%q with %q (-want +got):\n%s", s, v, diff)
	}
}
