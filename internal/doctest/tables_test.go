package doctest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/truss-dev/truss/internal/manager"
)

// reasonPackages are where reasons come from that a Bundle shows.
var reasonPackages = []string{
	"bundle", "readiness", "graph/resource", "graph/executor", "graph/executor/writer", "graph/executor/inventory",
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// section is the part of a page below a heading, to the next of its level.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	part, _, _ := strings.Cut(rest, "\n"+level+" ")
	return part
}

// cells are the cells of the rows of all tables of a text, without heads.
func cells(text string) [][]string {
	var out [][]string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		head := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || head {
			continue
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for j := range row {
			row[j] = strings.TrimSpace(row[j])
		}
		out = append(out, row)
	}
	return out
}

// spans are the code spans of a text, in order; fenced blocks have none.
func spans(text string) []string {
	var out []string
	for _, m := range codeSpan.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		out = append(out, m[1])
	}
	return out
}

func TestTablesAreReadAsTheirReadersDo(t *testing.T) {
	page := "# P\n## A\n| x | y |\n|---|---|\n| `a`, `b` | c |\n| d | |\n## B\n| e |\n"
	want := [][]string{{"`a`, `b`", "c"}, {"d", ""}}
	if diff := cmp.Diff(want, cells(section(t, page, "## A"))); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, spans("`a`,\n```sh\nx\n```\n `b`")); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

func TestEveryReasonIsOnThePageOfTheBundle(t *testing.T) {
	var listed []string
	for _, row := range cells(section(t, read(t, "docs/bundle.md"), "## Reasons")) {
		listed = append(listed, spans(row[0])...)
	}
	known := map[string]bool{"KstatusLessReady": true} // an example of a prefix
	for _, folder := range reasonPackages {
		for text := range literals(t, folder) {
			known[text] = true
		}
	}
	for _, folder := range []string{"bundle", "readiness", "graph/resource", "graph/executor", "graph/executor/writer"} {
		for name, reason := range constants(t, folder, regexp.MustCompile(`^Reason[A-Z]`)) {
			if !slices.Contains(listed, reason) {
				t.Errorf("docs/bundle.md does not list %q (%s.%s)", reason, folder, name)
			}
		}
	}
	for _, reason := range listed {
		if !known[reason] {
			t.Errorf("docs/bundle.md lists %q, which no code gives", reason)
		}
	}
}

func TestEveryEventIsOnThePageOfTheBundle(t *testing.T) {
	page := section(t, read(t, "docs/bundle.md"), "### Events")
	for name, reason := range constants(t, "bundle", regexp.MustCompile(`^Event(Resource|Bundle)`)) {
		if !slices.Contains(spans(page), reason) {
			t.Errorf("docs/bundle.md does not list the event %q (%s)", reason, name)
		}
	}
}

func TestEveryAnnotationIsOnItsPage(t *testing.T) {
	cases := map[string]struct {
		reason, folder string
		names          *regexp.Regexp
		page, heading  string
		prefix         string
	}{
		"objects": {"authors set these in Bundles", "graph/resource", regexp.MustCompile(`^(Adopt|Prune|OnImmutable|ReadyWhen|AllowSecretData|ForceConflicts|Deletion|DeletionDelay)Annotation$`),
			"docs/bundle.md", "## Annotations", ""},
		"all": {"a new annotation must be described, or be said to be reserved", "graph/resource", regexp.MustCompile(`Annotation$`),
			"docs/bundle.md", "", ""},
		"smith": {"authors of CRDs set these", "readiness", regexp.MustCompile(`^key(Field|Exists|OutputName|Support)`),
			"docs/readiness.md", "## Rules on the CRD", "smith.atlassian.com/"},
		"truss": {"authors of CRDs set these", "readiness", regexp.MustCompile(`^key(OutputKind|GenerationPath)`),
			"docs/readiness.md", "## Rules on the CRD", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			page := read(t, tc.page)
			if tc.heading != "" {
				page = section(t, page, tc.heading)
			}
			for constant, key := range constants(t, tc.folder, tc.names) {
				if !slices.Contains(spans(page), tc.prefix+key) {
					t.Errorf("%s: %s does not describe `%s%s` (%s)", tc.reason, tc.page, tc.prefix, key, constant)
				}
			}
		})
	}
}

func TestEveryFlagOfTheManagerIsListedWithItsDefault(t *testing.T) {
	page := read(t, "docs/operating.md")
	_, page, _ = strings.Cut(page, "<!-- flags:begin -->")
	page, _, _ = strings.Cut(page, "<!-- flags:end -->")
	got := map[string]string{}
	for _, row := range cells(page) {
		flag := strings.TrimPrefix(spans(row[0])[0], "--")
		got[flag] = strings.Trim(row[1], "`")
	}
	want := map[string]string{}
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	(&manager.Options{}).AddFlags(flags)
	flags.VisitAll(func(f *pflag.Flag) { want[f.Name] = f.DefValue })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/operating.md and `truss manager` differ (-code +page):\n%s", diff)
	}
}

func TestTroubleshootingHasARemedyForEachCommonMessage(t *testing.T) {
	page := section(t, read(t, "docs/operating.md"), "## Troubleshooting")
	reasons := map[string]bool{}
	for _, folder := range reasonPackages {
		for _, reason := range constantsOrNone(t, folder) {
			reasons[reason] = true
		}
	}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^### ([A-Z][A-Za-z]+)$`).FindAllStringSubmatch(page, -1) {
		found++
		if !reasons[m[1]] {
			t.Errorf("docs/operating.md explains %s, which is no reason", m[1])
		}
		if !strings.Contains(section(t, page, m[0]), "\n*") {
			t.Errorf("docs/operating.md quotes no message of %s", m[1])
		}
	}
	if found == 0 {
		t.Error("docs/operating.md explains no message")
	}
	for _, reason := range []string{"WatchForbidden", "ImpersonationForbidden", "KindUnknown", "Collision", "NotConverging", "FieldConflict", "TeardownForbidden"} {
		if !strings.Contains(page, "\n### "+reason+"\n") {
			t.Errorf("docs/operating.md does not explain %s", reason)
		}
	}
}

func constantsOrNone(t *testing.T, folder string) map[string]string {
	t.Helper()
	if folder == "graph/executor/inventory" {
		return nil // it spells its reasons out
	}
	return constants(t, folder, regexp.MustCompile(`^Reason[A-Z]`))
}

var (
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fences   = regexp.MustCompile("(?ms)^```.*?^```$")
	fragment = regexp.MustCompile(`\]\(([a-z/.A-Z-]*)#([^)]+)\)`)
	unslug   = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchors are the fragments by which the headings of a page can be linked.
func anchors(page string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fences.ReplaceAllString(page, ""), -1) {
		slug := unslug.ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(slug, " ", "-"))
	}
	return out
}

func TestLinksLeadToHeadingsThatExist(t *testing.T) {
	all := pages(t)
	for name, page := range all {
		for _, m := range fragment.FindAllStringSubmatch(page, -1) {
			target := name
			if m[1] != "" {
				target = "docs/" + strings.TrimPrefix(m[1], "docs/")
			}
			if !slices.Contains(anchors(all[target]), m[2]) {
				t.Errorf("%s links to %s#%s, which is not there", name, target, m[2])
			}
		}
	}
}
