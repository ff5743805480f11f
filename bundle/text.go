package bundle

import (
	"fmt"
	"regexp"
	"strings"
)

// referenceName is what may stand between the braces of !{...}: Smith's
// pattern, a DNS subdomain in which upper case is allowed.
var referenceName = regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*$`)

// part is a piece of a string: literal text, or the name of a reference.
type part struct {
	literal   string
	reference string
}

// text is a string of an object, parsed. Adjacent literals are one part.
type text []part

// static says that the text has no placeholder.
func (t text) static() bool {
	for _, p := range t {
		if p.reference != "" {
			return false
		}
	}
	return true
}

// literal is the value of a static text.
func (t text) literal() string {
	if len(t) == 0 {
		return ""
	}
	return t[0].literal
}

// whole returns the reference that is the entire text, "" if there is more.
func (t text) whole() string {
	if len(t) != 1 {
		return ""
	}
	return t[0].reference
}

// parseText finds the placeholders !{name} of s. Of two or more exclamation
// marks before a brace one is the escape: "!!{x}" is the text "!{x}". A map
// key, a number or a lone brace means nothing. O(len(s)).
func parseText(s string) (text, error) {
	if !strings.Contains(s, "!{") {
		return text{{literal: s}}, nil
	}
	var out text
	var literal strings.Builder
	for rest := s; ; {
		at := strings.Index(rest, "!{")
		if at < 0 {
			literal.WriteString(rest)
			break
		}
		if at > 0 && rest[at-1] == '!' {
			literal.WriteString(rest[:at-1] + "!{")
			rest = rest[at+2:]
			continue
		}
		name, after, err := parsePlaceholder(rest[at:])
		if err != nil {
			return nil, err
		}
		literal.WriteString(rest[:at])
		out = append(out.withLiteral(&literal), part{reference: name})
		rest = after
	}
	return out.withLiteral(&literal), nil
}

// withLiteral appends what was collected, if anything, and empties it.
func (t text) withLiteral(b *strings.Builder) text {
	if b.Len() == 0 {
		return t
	}
	t = append(t, part{literal: b.String()})
	b.Reset()
	return t
}

// parsePlaceholder splits "!{name}rest".
func parsePlaceholder(s string) (name, rest string, err error) {
	name, rest, closed := strings.Cut(s[len("!{"):], "}")
	if !closed {
		return "", "", fmt.Errorf(`%q is not closed; write "!{name}", or "!!{" for the text itself`, excerpt(s))
	}
	if len(name) > 253 || !referenceName.MatchString(name) {
		return "", "", fmt.Errorf(`%q is not the name of a reference; write "!{name}", or "!!{" for the text "!{"`, excerpt(name))
	}
	return name, rest, nil
}

// excerpt keeps messages short: object text can be a megabyte.
func excerpt(s string) string { return excerptTo(s, 40) }

// excerptTo cuts s to limit bytes of valid UTF-8, the mark of the cut included.
func excerptTo(s string, limit int) string {
	const mark = "..."
	if len(s) > limit {
		s = s[:limit-len(mark)] + mark
	}
	return strings.ToValidUTF8(s, "")
}
