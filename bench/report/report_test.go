package report_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/stats"
)

func TestNumbersKeepThreeDigits(t *testing.T) {
	for name, c := range map[string]struct {
		value      float64
		unit, want string
		reason     string
	}{
		"ratio":   {1.2345, "x", "1.23 x", "hundredths decide over a verdict"},
		"count":   {2, "", "2", "requests are whole"},
		"average": {1.005, "", "1.005", "or nearly so: one retry in 200 shows"},
		"seconds": {2.3456, "s", "2.35 s", "three digits"},
		"long":    {1234.5, "s", "1234 s", "or more in front of the point"},
		"short":   {0.01234, "s", "0.0123 s", "zeros are no digits"},
		"nothing": {0, "s", "0", "zero has no unit"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := report.Number(c.value, c.unit); got != c.want {
				t.Errorf("Number = %q, want %q: %s", got, c.want, c.reason)
			}
		})
	}
}

func TestTableAndFileTellTheSame(t *testing.T) {
	r := report.Results{Mode: "quick", Rows: []report.Row{
		report.Row{Measure: "wide 1000", Target: "<= 1.25 x raw", Limit: 1.25, Result: 1.31, Unit: "x",
			Samples: map[string][]float64{"truss": {2.62}, "raw": {2}}}.Judged(),
		report.Row{Measure: "writes", Target: "0", Result: 3}.Judged(),
		report.Row{Measure: "nothing", Target: "<= 1 s", Limit: 1, Result: math.NaN(), Unit: "s"}.Judged(),
	}}
	if r.Missed() != 2 {
		t.Errorf("%d rows missed, want 2: near is no miss, no result is one", r.Missed())
	}
	var table strings.Builder
	if err := r.Table(&table); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(table.String(), "\n")
	if at := strings.Index(lines[0], "VERDICT"); !strings.HasPrefix(lines[1][at:], "near") || !strings.HasPrefix(lines[2][at:], "MISSED") {
		t.Errorf("the verdicts are not below their heading:\n%s", table.String())
	}
	path, err := r.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var back report.Results
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.Rows[0].Verdict != stats.Near || back.Rows[0].Samples["truss"][0] != 2.62 {
		t.Errorf("the file has %+v", back.Rows[0])
	}
}
