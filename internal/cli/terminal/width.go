package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width returns the number of columns that clean text takes: two for wide
// East Asian characters, none for marks that combine. O(len(s)).
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

func columns(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Fit returns s if it takes at most limit columns, else its beginning and the
// mark of a cut. A limit below 1 gives nothing.
func Fit(s string, limit int, mark string) string {
	if Width(s) <= limit {
		return s
	}
	head := cut(s, limit-Width(mark))
	if head == "" {
		return cut(s, limit)
	}
	return head + mark
}

// cut returns the longest beginning of s that takes at most limit columns.
func cut(s string, limit int) string {
	used := 0
	for i, r := range s {
		used += columns(r)
		if used > limit {
			return s[:i]
		}
	}
	return s
}

// Pad returns s followed by the spaces that make it limit columns wide.
func Pad(s string, limit int) string {
	return s + strings.Repeat(" ", max(limit-Width(s), 0))
}

// Wrap breaks s into lines of at most limit columns, at spaces where it can.
// At most most lines are returned, the last one ending with mark if text was
// left out; 0 means all. A limit below 1 counts as 1. It returns no lines for
// text without words. O(len(s)).
func Wrap(s string, limit, most int, mark string) []string {
	limit = max(limit, 1)
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && Width(line)+1+Width(word) <= limit {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for Width(word) > limit {
			head := cut(word, limit)
			if head == "" {
				break
			}
			lines, word = append(lines, head), word[len(head):]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	if most > 0 && len(lines) > most {
		lines = lines[:most:most]
		lines[most-1] = cut(lines[most-1], limit-Width(mark)) + mark
	}
	return lines
}
