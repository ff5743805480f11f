package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns s as one line that a terminal prints and does not obey: line
// breaks, tabs and odd spaces become one space, every other character that
// does not print (control characters, escapes, changes of direction, invalid
// bytes) its escape, such as \x1b. With ascii all that is not ASCII is escaped.
// O(len(s)).
func Clean(s string, ascii bool) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsSpace(r):
			space(&b)
		case !unicode.IsPrint(r) || ascii && r > unicode.MaxASCII:
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain reports whether s is printable ASCII, as most names are.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// space writes a space unless one was written last.
func space(b *strings.Builder) {
	if !strings.HasSuffix(b.String(), " ") {
		b.WriteByte(' ')
	}
}

func escape(r rune) string {
	switch {
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// CleanJSON returns a JSON text in which characters that a terminal might obey
// are written as \u escapes. Encoders leave some, such as the one-character
// form of the escape sequence introducer; they stand in strings only, so that
// the text keeps its meaning. Line breaks between values stay. O(len(data)).
func CleanJSON(data []byte) []byte {
	var b strings.Builder
	b.Grow(len(data))
	for _, r := range string(data) {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := surrogates(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}

// surrogates splits a character beyond the basic plane as JSON writes it.
func surrogates(r rune) (high, low rune) {
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}
