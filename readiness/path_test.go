package readiness

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// widget is the object most path cases read.
func widget() map[string]any {
	return map[string]any{
		"metadata": map[string]any{
			"name":        "w",
			"annotations": map[string]any{"a.b/c": "dotted", "plain": "p"},
		},
		"odd key": "spaced",
		"status": map[string]any{
			"state": "Ready", "ok": true, "count": int64(3), "ratio": 1.0, "huge": 1e21, "half": 0.5,
			"nothing": nil, "empty": "", "list": []any{"a", "b"}, "map": map[string]any{"k": "v"}, "none": []any{},
			"conditions": []any{
				map[string]any{"type": "Synced", "status": "False", "n": int64(1)},
				map[string]any{"type": "Ready", "status": "True", "n": int64(2), "nil": nil},
			},
		},
	}
}

func TestPathTextPrintsAsSmithAndKubectlDo(t *testing.T) {
	cases := map[string]struct {
		reason, expr, want string
	}{
		"S43 Filter":          {"A filter picks the condition.", `{$.status.conditions[?(@.type=="Ready")].status}`, "True"},
		"S43 SingleQuotes":    {"Single quotes work as well.", `status.conditions[?(@.type=='Ready')].status`, "True"},
		"S44 Missing":         {"A missing value prints as empty without an error.", `{$.status.nope}`, ""},
		"S46 Sleeper":         {"Smith's own example of a readiness path.", "{$.status.state}", "Ready"},
		"N04 NoBraces":        {"Without braces Smith compared literal text for ever.", "status.state", "Ready"},
		"N04 Dollar":          {"Dollar without braces.", "$.status.state", "Ready"},
		"N04 BracesNoDollar":  {"Braces without dollar: Smith failed on it.", "{status.state}", "Ready"},
		"N04 BracesDot":       {"kubectl's own form.", "{.status.state}", "Ready"},
		"Spaces":              {"Space around the path does not matter.", " { .status.state } ", "Ready"},
		"N04 Bool":            {"Booleans print as words.", "status.ok", "true"},
		"N04 Int":             {"Integers print in full.", "status.count", "3"},
		"N04 WholeFloat":      {"1.0 prints as 1.", "status.ratio", "1"},
		"HugeFloat":           {"Large floats print with exponent.", "status.huge", "1e+21"},
		"Float":               {"Broken numbers print short.", "status.half", "0.5"},
		"Null":                {"null prints as null today.", "status.nothing", "null"},
		"EmptyText":           {"An empty text is empty.", "status.empty", ""},
		"List":                {"Lists print as JSON.", "status.list", `["a","b"]`},
		"Map":                 {"Maps print as JSON.", "status.map", `{"k":"v"}`},
		"EmptyList":           {"An empty list is a value.", "status.none", "[]"},
		"N04 OutOfRange":      {"An index out of range is missing, not an error.", "status.list[7]", ""},
		"NegativeIndex":       {"Negative indexes count from the end.", "status.list[-1]", "b"},
		"NegativeOutOfRange":  {"Also backwards.", "status.list[-3]", ""},
		"Slice":               {"A slice of one is one hit.", "status.list[1:2]", "b"},
		"DottedKey":           {"Escaped dots in a quoted key.", `metadata.annotations['a\.b/c']`, "dotted"},
		"LeadingBracket":      {"A leading bracket failed in Smith because of its prefix.", "['status'].state", "Ready"},
		"DollarBracket":       {"And with dollar.", "{$['status']['state']}", "Ready"},
		"FilterMissingField":  {"Elements without the field are skipped.", `status.conditions[?(@.nope=="x")].status`, ""},
		"FilterNull":          {"null in an element never compares.", `status.conditions[?(@.nil=="x")].status`, ""},
		"FilterNumber":        {"Numbers compare as numbers.", `status.conditions[?(@.n>1)].type`, "Ready"},
		"FilterNumberFloat":   {"Whole and broken numbers compare.", `status.conditions[?(@.n<1.5)].type`, "Synced"},
		"FilterExists":        {"Existence filter.", `status.conditions[?(@.nil)].type`, "Ready"},
		"FieldOfText":         {"A text has no fields.", "status.state.deeper", ""},
		"EmptyListWildcard":   {"A wildcard over nothing is missing.", "status.none[*]", ""},
		"WildcardOfSingleMap": {"One value of a map is one hit.", "status.map.*", "v"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePath(c.expr)
			if err != nil {
				t.Fatalf("%s: ParsePath(%q): %v", c.reason, c.expr, err)
			}
			got, err := p.Text(widget())
			if err != nil {
				t.Fatalf("%s: Text: %v", c.reason, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

func TestPathGivesTypedErrors(t *testing.T) {
	cases := map[string]struct {
		reason, expr string
		is           func(error) bool
		message      string
	}{
		"Several": {
			"N04: several hits are named, not joined by spaces or cut to the first.", "status.conditions[*].status", isSeveral,
			"{.status.conditions[*].status} gives 2 values, one is needed: narrow it with an index or a filter",
		},
		"SeveralOfFilter": {
			"The same for a filter.", `status.conditions[?(@.n>0)].type`, isSeveral,
			"{.status.conditions[?(@.n>0)].type} gives 2 values, one is needed: narrow it with an index or a filter",
		},
		"Missing": {
			"The first missing segment is named.", "status.db.endpoint", isMissing,
			`nothing at {.status.db.endpoint}: "status.db" is not there yet`,
		},
		"MissingIndex": {
			"An index out of range is missing.", "status.list[9].x", isMissing,
			`nothing at {.status.list[9].x}: "status.list[9]" is not there yet`,
		},
		"MissingFilter": {
			"No element passes the filter yet.", `status.conditions[?(@.type=="Up")].status`, isMissing,
			`nothing at {.status.conditions[?(@.type=="Up")].status}: "status.conditions[?(@.type==\"Up\")]" is not there yet`,
		},
		"Null": {
			"null counts as missing.", "status.nothing", isMissing,
			`nothing at {.status.nothing}: "status.nothing" is not there yet`,
		},
		"IndexOfText": {
			"An index on a text can never work.", "status.state[0]", isShape,
			"{.status.state[0]}: [0] needs a list, found a string",
		},
		"FieldOfText": {
			"A field of a text can never come: waiting for it would not end.", "status.state.deeper", isShape,
			"{.status.state.deeper}: .deeper needs a map, found a string",
		},
		"FieldOfList": {
			"A field of a list without an index is a mistake, too.", "status.conditions.type", isShape,
			"{.status.conditions.type}: .type needs a map, found a list",
		},
		"FilterOfMap": {
			"A filter on a map can never work.", `status.map[?(@.a=="b")]`, isShape,
			`{.status.map[?(@.a=="b")]}: [?(@.a=="b")] needs a list, found a map`,
		},
		"FilterTypes": {
			"A number never equals a text: Smith waited until the list was filled, then failed.", `status.conditions[?(@.n=="1")].type`, isShape,
			`{.status.conditions[?(@.n=="1")].type}: [?(@.n=="1")] needs a string to compare, found a number`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePath(c.expr)
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			_, err = p.Value(widget())
			if !c.is(err) {
				t.Fatalf("%s: got %T %v", c.reason, err, err)
			}
			if diff := cmp.Diff(c.message, err.Error()); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

func isSeveral(err error) bool { _, ok := errors.AsType[*SeveralError](err); return ok }

func isMissing(err error) bool { _, ok := errors.AsType[*MissingError](err); return ok }

func isShape(err error) bool { _, ok := errors.AsType[*ShapeError](err); return ok }

func TestPathValueKeepsTypes(t *testing.T) {
	for expr, want := range map[string]any{
		"status.ok": true, "status.count": int64(3), "status.half": 0.5, "status.empty": "",
		"status.list": []any{"a", "b"}, "status.map": map[string]any{"k": "v"},
	} {
		p, err := ParsePath(expr)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Value(widget())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, -want +got:\n%s", expr, err, diff)
		}
	}
}
