package readiness

import (
	"math"
	"strconv"
)

// valueAt reads a nested value; nil when a part of the way is missing or is
// no map. Unlike the accessors of apimachinery it neither copies nor fails.
func valueAt(m map[string]any, fields ...string) any {
	var value any = m
	for _, field := range fields {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[field]
	}
	return value
}

func mapAt(m map[string]any, fields ...string) map[string]any {
	inner, _ := valueAt(m, fields...).(map[string]any)
	return inner
}

func listAt(m map[string]any, fields ...string) []any {
	list, _ := valueAt(m, fields...).([]any)
	return list
}

func textAt(m map[string]any, fields ...string) string {
	text, _ := valueAt(m, fields...).(string)
	return text
}

// integer reads a whole number of any JSON form, a decimal string included.
func integer(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return 0, false
		}
		return int64(v), true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// A condition is what the rules read of one entry of status.conditions.
type condition struct {
	status, reason, message string
	observed                int64
	hasObserved             bool
}

// conditionOf finds a condition by type; the first one wins, as in kstatus.
func conditionOf(obj map[string]any, conditionType string) (condition, bool) {
	for _, item := range listAt(obj, "status", "conditions") {
		entry, ok := item.(map[string]any)
		if !ok || entry["type"] != any(conditionType) {
			continue
		}
		c := condition{status: textAt(entry, "status"), reason: textAt(entry, "reason"), message: textAt(entry, "message")}
		c.observed, c.hasObserved = integer(entry["observedGeneration"])
		return c, true
	}
	return condition{}, false
}

// isTrue tells whether the object has the condition with status True.
func isTrue(obj map[string]any, conditionType string) bool {
	c, _ := conditionOf(obj, conditionType)
	return c.status == "True"
}

// says words a condition for a message.
func (c condition) says(conditionType string) string {
	text := "condition " + conditionType + " is " + strconv.Quote(truncate(c.status, 40))
	if c.reason != "" {
		text += " (" + truncate(c.reason, 100) + ")"
	}
	if c.message != "" {
		text += ": " + truncate(c.message, 400)
	}
	return text
}
