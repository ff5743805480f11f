package readiness

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// A segment is one step of a path: it maps the values found so far to the
// values one level down, in document order, map keys sorted.
type segment interface {
	step(values []any) ([]any, error)
	fmt.Stringer
}

// fieldSegment reads a key of maps. Other values have no keys and give nothing.
type fieldSegment string

func (s fieldSegment) step(values []any) ([]any, error) {
	hits := values[:0:0]
	for _, value := range values {
		m, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if inner, found := m[string(s)]; found {
			hits = append(hits, inner)
		}
	}
	return hits, nil
}

func (s fieldSegment) String() string {
	if strings.ContainsAny(string(s), `./[] `) {
		return "['" + strings.ReplaceAll(string(s), ".", `\.`) + "']"
	}
	return "." + string(s)
}

// sliceSegment is [i], [from:to:step] or [*]. Out of range is missing, not an
// error: controllers append to lists.
type sliceSegment struct {
	params [3]jsonpath.ParamsEntry
}

func (s sliceSegment) step(values []any) ([]any, error) {
	var hits []any
	for _, value := range values {
		if value == nil {
			continue
		}
		list, ok := value.([]any)
		if !ok {
			return nil, &ShapeError{Segment: s.String(), Want: "a list", Got: shapeOf(value)}
		}
		from, to, step := s.bounds(len(list))
		for i := from; i < to; i += step {
			hits = append(hits, list[i])
		}
	}
	return hits, nil
}

// bounds resolves negative and open ends; from == to where out of range.
func (s sliceSegment) bounds(length int) (from, to, step int) {
	from, to, step = 0, length, 1
	if s.params[0].Known {
		from = s.params[0].Value
	}
	if from < 0 {
		from += length
	}
	if s.params[1].Known {
		to = s.params[1].Value
	}
	if to < 0 || (to == 0 && s.params[1].Derived) {
		to += length
	}
	if s.params[2].Known {
		step = s.params[2].Value
	}
	if from < 0 || to > length || from >= to {
		return 0, 0, step
	}
	return from, to, step
}

func (s sliceSegment) String() string {
	if s.params[1].Derived {
		return "[" + strconv.Itoa(s.params[0].Value) + "]"
	}
	parts := make([]string, 0, len(s.params))
	for _, param := range s.params {
		text := ""
		if param.Known {
			text = strconv.Itoa(param.Value)
		}
		parts = append(parts, text)
	}
	text := strings.TrimSuffix(strings.Join(parts, ":"), ":")
	if text == ":" {
		text = "*"
	}
	return "[" + text + "]"
}

// wildcardSegment gives all values of maps, by sorted key, and lists.
type wildcardSegment struct{}

func (s wildcardSegment) step(values []any) ([]any, error) {
	var hits []any
	for _, value := range values {
		switch v := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				hits = append(hits, v[key])
			}
		case []any:
			hits = append(hits, v...)
		}
	}
	return hits, nil
}

func (s wildcardSegment) String() string { return ".*" }

// filterSegment keeps the elements of lists for which a comparison holds. An
// element that lacks what is compared is dropped.
type filterSegment struct {
	left, right []segment
	operator    string
	literal     any
	isLiteral   bool
}

func (s filterSegment) step(values []any) ([]any, error) {
	var hits []any
	for _, value := range values {
		if value == nil {
			continue
		}
		list, ok := value.([]any)
		if !ok {
			return nil, &ShapeError{Segment: s.String(), Want: "a list", Got: shapeOf(value)}
		}
		for _, element := range list {
			holds, err := s.holds(element)
			if err != nil {
				return nil, err
			}
			if holds {
				hits = append(hits, element)
			}
		}
	}
	return hits, nil
}

func (s filterSegment) holds(element any) (bool, error) {
	if s.operator == "exists" {
		// As in kubectl: what cannot be read does not exist.
		hits, err := walk(s.left, element)
		return err == nil && len(hits) > 0, nil
	}
	left, found, err := s.operand(s.left, element)
	if err != nil || !found {
		return false, err
	}
	right := s.literal
	if !s.isLiteral {
		right, found, err = s.operand(s.right, element)
		if err != nil || !found {
			return false, err
		}
	}
	holds, comparable := compare(left, right, s.operator)
	if !comparable {
		return false, &ShapeError{Segment: s.String(), Want: shapeOf(right) + " to compare", Got: shapeOf(left)}
	}
	return holds, nil
}

// operand evaluates one side; null counts as missing.
func (s filterSegment) operand(side []segment, element any) (any, bool, error) {
	hits, err := walk(side, element)
	if err != nil || len(hits) == 0 {
		return nil, false, err
	}
	if len(hits) > 1 {
		return nil, false, &ShapeError{Segment: s.String(), Want: "one value to compare", Got: fmt.Sprintf("%d values", len(hits))}
	}
	return hits[0], hits[0] != nil, nil
}

func walk(segments []segment, value any) (hits []any, err error) {
	hits = []any{value}
	for _, s := range segments {
		hits, err = s.step(hits)
		if err != nil || len(hits) == 0 {
			return nil, err
		}
	}
	return hits, nil
}

func (s filterSegment) String() string {
	left := "@" + joinSegments(s.left)
	if s.operator == "exists" {
		return "[?(" + left + ")]"
	}
	right := "@" + joinSegments(s.right)
	if s.isLiteral {
		right = quoteScalar(s.literal)
	}
	return "[?(" + left + s.operator + right + ")]"
}

func joinSegments(segments []segment) string {
	var text strings.Builder
	for _, s := range segments {
		text.WriteString(s.String())
	}
	return text.String()
}
