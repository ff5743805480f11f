package readiness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The limits of a path, so that its cost is bounded by the object's size.
const (
	maxPathLength   = 1024
	maxPathSegments = 32
	maxPathIndex    = 1024
	maxPathText     = 64 << 10
)

// A Path is a checked JSONPath: fields, indexes, slices, wildcards and filters
// in the syntax of kubectl. client-go parses it; evaluation walks that parse
// tree here, because client-go's own evaluation orders hits of maps at random,
// puts values into error texts and cannot say which segment is missing. A Path
// is immutable and safe for concurrent use.
type Path struct {
	text     string
	segments []segment
}

// ParsePath checks and parses an expression of at most 1 KiB and 32 segments.
// Braces, the leading $ and the leading dot are optional. Recursive descent,
// unions, text outside braces, several expressions, range and unquoted filter
// literals are refused; the error says what to write instead.
func ParsePath(expr string) (*Path, error) {
	body, err := pathBody(expr)
	if err != nil {
		return nil, fmt.Errorf("cannot parse path %q: %w", truncate(expr, 120), err)
	}
	segments, err := parseSegments(body)
	if err != nil {
		return nil, fmt.Errorf("cannot parse path %q: %w", truncate(expr, 120), err)
	}
	return &Path{text: body, segments: segments}, nil
}

// String gives the path as {...}, with the braces kubectl and Smith want.
func (p *Path) String() string { return "{" + p.text + "}" }

// First gives the name of the first field, or "" where the path starts with
// an index, wildcard or filter.
func (p *Path) First() string {
	name, _ := p.segments[0].(fieldSegment)
	return string(name)
}

// Text evaluates the path and prints the value as Smith and kubectl do: a
// string as it is, true, 3, 1.0 as 1, null as null, maps and lists as JSON. A
// missing value is "" without an error; Value tells it from an empty string.
// Several hits give a *SeveralError, a value of the wrong shape on the way a
// *ShapeError.
func (p *Path) Text(obj map[string]any) (string, error) {
	hits, _, err := p.find(obj)
	if err != nil || len(hits) == 0 {
		return "", err
	}
	if len(hits) > 1 {
		return "", &SeveralError{Path: p.String(), Count: len(hits)}
	}
	return p.print(hits[0])
}

func (p *Path) print(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "null", nil
	case string:
		return v, nil
	case map[string]any, []any:
		return p.printJSON(v)
	default:
		return fmt.Sprint(v), nil
	}
}

func (p *Path) printJSON(value any) (string, error) {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(value); err != nil {
		return "", &ShapeError{Path: p.String(), Want: "a JSON value", Got: "another Go value"}
	}
	if text.Len() > maxPathText {
		return "", &ShapeError{Path: p.String(), Want: "a value below 64 KiB", Got: "a larger one"}
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// Value evaluates the path and gives the typed value as it stands in obj; it
// must not be changed. Nothing there, null included, gives a *MissingError,
// several hits a *SeveralError, a wrong shape on the way a *ShapeError.
func (p *Path) Value(obj map[string]any) (any, error) {
	hits, missing, err := p.find(obj)
	if err != nil {
		return nil, err
	}
	if len(hits) > 1 {
		return nil, &SeveralError{Path: p.String(), Count: len(hits)}
	}
	if len(hits) == 0 {
		return nil, p.absent(obj, missing)
	}
	if hits[0] == nil {
		return nil, p.missing(len(p.segments) - 1)
	}
	return hits[0], nil
}

// absent tells a key that may still come from a key of what can have none: to
// wait for a field of a text would be to wait for ever.
func (p *Path) absent(obj map[string]any, at int) error {
	field, isField := p.segments[at].(fieldSegment)
	parents, err := walk(p.segments[:at], obj)
	if !isField || err != nil || len(parents) != 1 || parents[0] == nil {
		return p.missing(at)
	}
	if _, isMap := parents[0].(map[string]any); isMap {
		return p.missing(at)
	}
	return &ShapeError{Path: p.String(), Segment: field.String(), Want: "a map", Got: shapeOf(parents[0])}
}

// missing names the path up to and with the segment that found nothing.
func (p *Path) missing(last int) error {
	var text strings.Builder
	for _, s := range p.segments[:last+1] {
		text.WriteString(s.String())
	}
	return &MissingError{Path: p.String(), Segment: strings.TrimPrefix(text.String(), ".")}
}

// find evaluates all segments. Where nothing is left it gives the index of the
// segment that found nothing.
func (p *Path) find(obj map[string]any) (hits []any, missing int, err error) {
	hits = []any{obj}
	for i, s := range p.segments {
		hits, err = s.step(hits)
		if err != nil {
			return nil, i, withPath(err, p.String())
		}
		if len(hits) == 0 {
			return nil, i, nil
		}
	}
	return hits, 0, nil
}

// A MissingError says that a path leads to nothing yet.
type MissingError struct {
	// Path is the whole path.
	Path string
	// Segment is the path up to the first segment that is not there.
	Segment string
}

// Error names the path and the first segment that is missing.
func (e *MissingError) Error() string {
	return fmt.Sprintf("nothing at %s: %q is not there yet", e.Path, e.Segment)
}

// A SeveralError says that a path which must give one value gives more.
type SeveralError struct {
	// Path is the whole path.
	Path string
	// Count is the number of values it gives.
	Count int
}

// Error names the path and the number of hits.
func (e *SeveralError) Error() string {
	return fmt.Sprintf("%s gives %d values, one is needed: narrow it with an index or a filter", e.Path, e.Count)
}

// A ShapeError says that a path does not fit the object: it indexes what is
// no list, or a filter compares what cannot be compared. It holds no values.
type ShapeError struct {
	// Path is the whole path.
	Path string
	// Segment is the segment that does not fit.
	Segment string
	// Want and Got are shapes, such as "a list" and "a string".
	Want, Got string
}

// Error names path, segment and both shapes.
func (e *ShapeError) Error() string {
	if e.Segment == "" {
		return fmt.Sprintf("%s needs %s, found %s", e.Path, e.Want, e.Got)
	}
	return fmt.Sprintf("%s: %s needs %s, found %s", e.Path, e.Segment, e.Want, e.Got)
}

func withPath(err error, path string) error {
	if shape, ok := errors.AsType[*ShapeError](err); ok {
		shape.Path = path
	}
	return err
}

// quoteScalar words a number or text for a message; other shapes by name.
func quoteScalar(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("%q", truncate(v, 100))
	case map[string]any, []any:
		return shapeOf(v)
	default:
		return fmt.Sprint(v)
	}
}

// shapeOf names the JSON type of a value without showing it.
func shapeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	default:
		return "a number"
	}
}
