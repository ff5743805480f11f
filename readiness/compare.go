package readiness

import "cmp"

// compare applies a filter operator. Texts compare with texts, numbers with
// numbers (whole and broken alike), booleans for equality; all else cannot be
// compared.
func compare(left, right any, operator string) (holds, comparable bool) {
	if l, ok := left.(bool); ok {
		r, ok := right.(bool)
		return compareBool(l, r, operator), ok && (operator == "==" || operator == "!=")
	}
	if l, ok := left.(string); ok {
		r, ok := right.(string)
		return ordered(cmp.Compare(l, r), operator), ok
	}
	if l, ok := left.(int64); ok {
		if r, ok := right.(int64); ok {
			return ordered(cmp.Compare(l, r), operator), true
		}
	}
	l, leftOK := number(left)
	r, rightOK := number(right)
	if !leftOK || !rightOK {
		return false, false
	}
	return ordered(cmp.Compare(l, r), operator), true
}

func compareBool(left, right bool, operator string) bool {
	return (left == right) == (operator == "==")
}

func ordered(order int, operator string) bool {
	switch operator {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
