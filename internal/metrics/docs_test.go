package metrics

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table in docs/metrics.md")

const (
	page  = "../../docs/metrics.md"
	begin = "<!-- metrics:begin -->\n"
	end   = "<!-- metrics:end -->\n"
)

// table is the catalogue in Markdown.
func table(entries []Entry) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | what it says |\n|---|---|---|---|\n")
	for _, e := range entries {
		var labels []string
		for _, l := range e.Labels {
			labels = append(labels, "`"+l+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Name, e.Type, strings.Join(labels, ", "), e.Help)
	}
	return b.String()
}

func TestDocumentationListsEveryMetric(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s lacks the lines %q and %q", page, begin, end)
	}
	want := table(Catalogue())
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is out of date; run make generate (-want +got):\n%s", page, diff)
	}
}
