package terminal

import (
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// Settings are what can be shown on an output.
type Settings struct {
	// Live says that the output is a terminal on which lines can be drawn
	// again.
	Live bool
	// Colour says that colours may be used.
	Colour bool
	// ASCII says that nothing but ASCII can be relied on.
	ASCII bool
	// Size gives the columns and rows as they are now; 0 where unknown, as in
	// a pipe, which takes lines of any length.
	Size func() (width, height int)
}

// Detect looks at the output and, through getenv, at the environment: TERM,
// NO_COLOR (https://no-color.org) and the locale in LC_ALL, LC_CTYPE, LANG.
func Detect(out io.Writer, getenv func(string) string) Settings {
	s := Settings{ASCII: !unicodeLocale(getenv, runtime.GOOS), Size: func() (int, int) { return 0, 0 }}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) { //nolint:gosec // a descriptor fits an int
		return s
	}
	s.Size = func() (int, int) {
		width, height, err := term.GetSize(int(file.Fd())) //nolint:gosec // as above
		if err != nil {
			return 0, 0
		}
		return width, height
	}
	s.Live = getenv("TERM") != "dumb"
	s.Colour = s.Live && getenv("NO_COLOR") == ""
	return s
}

// unicodeLocale reports whether the locale's encoding is UTF-8. The first
// variable that is set decides, as POSIX has it; none means ASCII, but for
// Windows, which has no such variables.
func unicodeLocale(getenv func(string) string, system string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return system == "windows"
}
