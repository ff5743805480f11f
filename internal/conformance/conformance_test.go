package conformance

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// root is the repository's root, where the module is.
const root = "../.."

func TestEveryCaseHasTestsThatExistOrAReason(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Parse(string(page))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range Check(rows, tests) {
		t.Error(wrong)
	}
}

const source = "package a\n\nfunc TestOne(t *testing.T) { t.Run(\"Sub Case\", nil) }\n\nfunc (x) TestMethod() {}\n"

func TestCheckNamesWhatIsWrong(t *testing.T) {
	tests, err := Load(fstest.MapFS{
		"dir/a/a_test.go":           {Data: []byte(source)},
		"dir/a/testdata/gold/in":    {Data: []byte("x")},
		".hidden/broken_test.go":    {Data: []byte("no Go")},
		"bin/tools/broken_test.go":  {Data: []byte("no Go")},
		"dir/a/notest.go":           {Data: []byte("package a\nfunc TestElsewhere() {}")},
		"dir/a/testdata/other/file": {Data: []byte("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, line string
		want         []string
	}{
		"Function":   {"a test that exists", "| S01 | c | `dir/a.TestOne` |", nil},
		"SubTest":    {"a sub-test by its string", "| S01 | c | `dir/a.TestOne/Sub Case` |", nil},
		"Golden":     {"a sub-test by its directory", "| S01 | c | `dir/a.TestOne/gold` |", nil},
		"Reason":     {"a reason instead", "| S01 | c | does not apply: no plugins |", nil},
		"Missing":    {"a test that was renamed", "| S01 | c | `dir/a.TestTwo` |", []string{"S01: there is no test dir/a.TestTwo"}},
		"MissingSub": {"a sub-test that was renamed", "| S01 | c | `dir/a.TestOne/Nope` |", []string{"S01: there is no test dir/a.TestOne/Nope"}},
		"Package":    {"a package that moved", "| S01 | c | `dir/b.TestOne` |", []string{"S01: there is no test dir/b.TestOne"}},
		"Method":     {"a method is no test", "| S01 | c | `dir/a.TestMethod` |", []string{"S01: there is no test dir/a.TestMethod"}},
		"NoTestFile": {"a function outside test files is no test", "| S01 | c | `dir/a.TestElsewhere` |", []string{"S01: there is no test dir/a.TestElsewhere"}},
		"Nothing":    {"neither test nor reason", "| S01 | c | later |", []string{"S01 names no test and no reason"}},
		"NoReason":   {"an empty reason is none", "| S01 | c | does not apply:   |", []string{"S01 names no test and no reason"}},
		"Twice":      {"two rows", "| S01 | c | `dir/a.TestOne` |\n| S01 | c | `dir/a.TestOne` |", []string{"S01 has 2 rows"}},
		"Unknown":    {"no such case", "| S01 | c | `dir/a.TestOne` |\n| S777 | c | `dir/a.TestOne` |", []string{"S777 is no case"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rows, err := Parse("# Page\n\n| id | case | tests |\n|---|---|---|\n" + tc.line + "\n")
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range IDs()[1:] {
				rows = append(rows, Row{ID: id, Reason: "other"})
			}
			if diff := cmp.Diff(tc.want, Check(rows, tests)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestACaseWithoutARowIsMissed(t *testing.T) {
	got := Check(nil, &Tests{})
	if len(got) != 136 || got[0] != "S01 has 0 rows" || got[135] != "N36 has 0 rows" {
		t.Errorf("an empty table lacks all 136 cases, got %d: %v", len(got), got)
	}
}

func TestALineThatIsNoRowIsNamed(t *testing.T) {
	if _, err := Parse("| S1 | too short an id | `a.TestB` |"); err == nil {
		t.Error("a row that cannot be read must not be passed over: the case would seem to be missing only")
	}
}
