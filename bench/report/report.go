package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/truss-dev/truss/bench/stats"
)

// Row is one measure.
type Row struct {
	// Measure names what was measured.
	Measure string `json:"measure"`
	// Target is the target as text, and Limit the number that Result must not
	// exceed.
	Target string  `json:"target"`
	Limit  float64 `json:"limit"`
	// Result is the number, in Unit: "x" for a ratio, "" for a count, "s", "ms".
	Result  float64       `json:"result"`
	Unit    string        `json:"unit,omitempty"`
	Verdict stats.Verdict `json:"verdict"`
	// Detail says in words what the result is made of.
	Detail string `json:"detail,omitempty"`
	// Samples are all that was measured, by name; times in seconds.
	Samples map[string][]float64 `json:"samples,omitempty"`
}

// Judged returns the row with its verdict.
func (r Row) Judged() Row {
	r.Verdict = stats.Judge(r.Result, r.Limit)
	if math.IsNaN(r.Result) || math.IsInf(r.Result, 0) {
		r.Result = -1 // JSON has no such numbers; the verdict says that it is none
	}
	return r
}

// Results are a whole run.
type Results struct {
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Mode    string    `json:"mode"`
	Pairs   int       `json:"pairs"`
	Machine Machine   `json:"machine"`
	Rows    []Row     `json:"rows"`
}

// Missed returns how many rows missed their target by more than the tolerance.
func (r *Results) Missed() int {
	n := 0
	for i := range r.Rows {
		if r.Rows[i].Verdict == stats.Missed {
			n++
		}
	}
	return n
}

// Table prints the rows, aligned.
func (r *Results) Table(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MEASURE\tTARGET\tRESULT\tVERDICT\tDETAIL")
	for i := range r.Rows {
		row := &r.Rows[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", row.Measure, row.Target, Number(row.Result, row.Unit), row.Verdict, row.Detail)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("cannot print the table: %w", err)
	}
	return nil
}

// Number prints a result: counts as they are, all else with three digits or
// more.
func Number(v float64, unit string) string {
	switch {
	case unit == "" || v == 0:
		return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
	case unit == "x":
		return strconv.FormatFloat(v, 'f', 2, 64) + " x"
	}
	return Digits(v) + " " + unit
}

// Digits prints a number with three significant digits, more if it is larger.
func Digits(v float64) string {
	decimals := 0
	for limit := 100.0; decimals < 6 && math.Abs(v) < limit; limit /= 10 {
		decimals++
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// Write stores the results as DIR/results.json and gives the path.
func (r *Results) Write(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot make directory %q: %w", dir, err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", fmt.Errorf("cannot encode the results: %w", err)
	}
	path := filepath.Join(dir, "results.json")
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("cannot write %q: %w", path, err)
	}
	return path, nil
}
