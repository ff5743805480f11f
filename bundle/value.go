package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// maxSubstituted bounds, in bytes, what references put into one object. No
// object of that size can be stored (etcd ends at 1.5 MiB); without a bound
// a short Bundle could repeat a long value until the process dies.
const maxSubstituted = 2 << 20

// perValue is charged for each value besides its text.
const perValue = 16

// errTooMuch says that a render went over maxSubstituted.
var errTooMuch = errors.New("the values of its references add up to more than 2 MiB")

// value is what a reference read.
type value struct {
	data any
	// plain says that the data is decoded: below the data of a Secret it has
	// to be encoded again.
	plain bool
}

// budget counts down what one render may still substitute.
type budget int

func (b *budget) spend(n int) error {
	*b -= budget(n) + perValue
	if *b < 0 {
		return errTooMuch
	}
	return nil
}

// copyOf returns a deep copy of a JSON value, so that neither the live object
// nor the rendered one is changed through the other. Other Go types than
// those of decoded JSON are an error. O(size), within the budget.
func copyOf(v any, b *budget) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64, float64:
		return v, b.spend(0)
	case string:
		return v, b.spend(len(v))
	case []any:
		return copyOfList(v, b)
	case map[string]any:
		return copyOfMap(v, b)
	}
	return nil, fmt.Errorf("a value of Go type %T is not JSON", v)
}

func copyOfList(list []any, b *budget) (any, error) {
	if err := b.spend(0); err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, item := range list {
		c, err := copyOf(item, b)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

func copyOfMap(m map[string]any, b *budget) (any, error) {
	if err := b.spend(0); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if err := b.spend(len(key)); err != nil {
			return nil, err
		}
		c, err := copyOf(m[key], b)
		if err != nil {
			return nil, err
		}
		out[key] = c
	}
	return out, nil
}

// printed returns a scalar as it stands in a longer string. It never prints
// the value in an error: it may be secret.
func printed(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		raw, err := json.Marshal(v)
		return string(raw), err
	}
	return "", fmt.Errorf("it is %s, which cannot stand inside a longer string; read one of its fields, or use it as the whole string", kindOf(v))
}

// kindOf names the JSON type of a value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return fmt.Sprintf("a Go %T", v)
}
