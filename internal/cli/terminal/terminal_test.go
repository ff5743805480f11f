package terminal_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/truss-dev/truss/internal/cli/terminal"
)

func TestCleanLeavesNothingToObey(t *testing.T) {
	cases := []struct{ reason, in, want string }{
		{"names stay", "web-1.example", "web-1.example"},
		{"an escape sequence is shown", "\x1b[2Jgone", `\x1b[2Jgone`},
		{"so is its one-character form", "\u009b31m", `\u009b31m`},
		{"bells and deletes too", "a\a\x7f", `a\x07\x7f`},
		{"lines become one line", "a\r\n\tb\n", "a b "},
		{"text cannot change its direction", "\u202eexe", `\u202eexe`},
		{"bytes that are not UTF-8 are shown", "a\xffb", `a\xffb`},
		{"letters of any language stay", "Größe 数", "Größe 数"},
		{"tags beyond the basic plane are shown", "a\U000e0041", `a\U000e0041`},
	}
	for _, c := range cases {
		if got := terminal.Clean(c.in, false); got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
	if got := terminal.Clean("Größe", true); got != `Gr\u00f6\u00dfe` {
		t.Errorf("with ASCII only: %q", got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[2J\u009b\xff\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, ascii := range []bool{false, true} {
			for _, r := range terminal.Clean(s, ascii) {
				if !unicode.IsPrint(r) || ascii && r > unicode.MaxASCII {
					t.Fatalf("%q holds %U", terminal.Clean(s, ascii), r)
				}
			}
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back, want string
		if err := json.Unmarshal(terminal.CleanJSON(data), &back); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if back != want {
			t.Fatalf("%q became %q", want, back)
		}
	})
}

func TestCleanJSONKeepsTheMeaning(t *testing.T) {
	want := "a\u009b\u202e\U000e0041ü\x1b"
	data, err := json.MarshalIndent(map[string]string{"k": want}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	clean := terminal.CleanJSON(data)
	if strings.ContainsAny(string(clean), "\u009b\u202e\U000e0041\x1b") || !strings.Contains(string(clean), "ü") {
		t.Errorf("%s", clean)
	}
	var got map[string]string
	if err := json.Unmarshal(clean, &got); err != nil || got["k"] != want {
		t.Errorf("%q, %v", got["k"], err)
	}
}

func TestTextIsMeasuredInColumns(t *testing.T) {
	if got := terminal.Width("a数e\u0301"); got != 4 {
		t.Errorf("width %d, want 4: wide characters take two columns, marks none", got)
	}
	fits := []struct {
		reason, in, want string
		limit            int
	}{
		{"what fits stays", "abc", "abc", 3},
		{"what does not is marked", "abcd", "ab…", 3},
		{"a wide character is not halved", "数数", "数", 2},
		{"no room, no text", "abc", "", 0},
		{"less than no room, too", "abc", "", -1},
	}
	for _, c := range fits {
		if got := terminal.Fit(c.in, c.limit, "…"); got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

func TestWrapBreaksAtSpaces(t *testing.T) {
	cases := []struct {
		reason, in  string
		limit, most int
		want        []string
	}{
		{"words stay whole", "one two three", 7, 0, []string{"one two", "three"}},
		{"but for those that are too long", "abcdefgh i", 3, 0, []string{"abc", "def", "gh", "i"}},
		{"what is left out is marked", "one two three four", 7, 2, []string{"one two", "three…"}},
		{"also at the end of a full line", "one two one two one", 7, 2, []string{"one two", "one tw…"}},
		{"no words, no lines", "  ", 7, 0, nil},
		{"no room counts as one column", "ab", 0, 0, []string{"a", "b"}},
		{"a wide character that does not fit is kept", "数", 1, 0, []string{"数"}},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, terminal.Wrap(c.in, c.limit, c.most, "…")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

func TestDetectFollowsTheEnvironment(t *testing.T) {
	cases := []struct {
		reason string
		env    map[string]string
		ascii  bool
	}{
		{"UTF-8 in LANG", map[string]string{"LANG": "de_DE.UTF-8"}, false},
		{"LC_ALL wins", map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, true},
		{"the spelling varies", map[string]string{"LC_CTYPE": "C.utf8"}, false},
		{"nothing set", nil, true},
	}
	for _, c := range cases {
		s := terminal.Detect(&bytes.Buffer{}, func(name string) string { return c.env[name] })
		if s.ASCII != c.ascii || s.Live || s.Colour {
			t.Errorf("%s: %+v", c.reason, s)
		}
		if w, h := s.Size(); w != 0 || h != 0 {
			t.Errorf("%s: a pipe of %d by %d", c.reason, w, h)
		}
	}
}

func TestScreenDrawsOverTheFrameBefore(t *testing.T) {
	var out bytes.Buffer
	s := terminal.NewScreen(&out)
	for _, frame := range [][]string{{"a", "b"}, {"c"}, {"d", "e"}} {
		if err := s.Draw(frame); err != nil {
			t.Fatal(err)
		}
	}
	want := "a\nb\n\x1b[2A\r\x1b[Jc\n\x1b[1A\r\x1b[Jd\ne\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPaletteIsSilentUnlessOn(t *testing.T) {
	if got := (terminal.Palette{}).Paint(terminal.Bad, "x"); got != "x" {
		t.Errorf("%q", got)
	}
	if got := (terminal.Palette{On: true}).Paint(terminal.Good, "x"); got != "\x1b[32mx\x1b[0m" {
		t.Errorf("%q", got)
	}
}
