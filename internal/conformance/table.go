package conformance

import (
	"fmt"
	"regexp"
	"strings"
)

// NotApplicable begins the last cell of a case that no test shows.
const NotApplicable = "does not apply: "

// Row is one case of the table.
type Row struct {
	// ID is S01 to S100 or N01 to N36.
	ID string
	// Case says what is promised.
	Case string
	// Tests are the names that show it, "package.Test" or "package.Test/Sub",
	// the package relative to the module.
	Tests []string
	// Reason is why no test shows it; empty when there are tests.
	Reason string
}

var (
	rowLine  = regexp.MustCompile(`^\| ([SN]\d{2,3}) \| (.+?) \| (.+) \|$`)
	testName = regexp.MustCompile("`([^`]+)`")
)

// Parse reads the rows of the table in the order of the page. A line that
// begins like a row and is none is an error that names it.
func Parse(page string) ([]Row, error) {
	var rows []Row
	for i, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "| S") && !strings.HasPrefix(line, "| N") {
			continue
		}
		m := rowLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("cannot read line %d: %q is no row | id | case | tests |", i+1, line)
		}
		rows = append(rows, rowOf(m))
	}
	return rows, nil
}

func rowOf(m []string) Row {
	r := Row{ID: m[1], Case: m[2]}
	if reason, found := strings.CutPrefix(m[3], NotApplicable); found {
		r.Reason = reason
		return r
	}
	for _, name := range testName.FindAllStringSubmatch(m[3], -1) {
		r.Tests = append(r.Tests, name[1])
	}
	return r
}

// IDs are all cases: S01 to S100, then N01 to N36.
func IDs() []string {
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("S%02d", i+1))
	}
	for i := range 36 {
		ids = append(ids, fmt.Sprintf("N%02d", i+1))
	}
	return ids
}
