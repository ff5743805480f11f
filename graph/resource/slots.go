package resource

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseSlots reads a list of slots and ranges such as "0-31,40". The result is
// sorted and without duplicates; nil for an empty text, which means all.
func ParseSlots(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 0 || to >= Slots || from > to {
			return nil, fmt.Errorf("cannot read slots %q: write numbers from 0 to %d and ranges, such as 0-31,40", part, Slots-1)
		}
		for i := from; i <= to; i++ {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// SlotSelector selects objects of the slots by SlotLabel; empty for all slots.
func SlotSelector(slots []int) string {
	if len(slots) == 0 {
		return ""
	}
	texts := make([]string, len(slots))
	for i, s := range slots {
		texts[i] = strconv.Itoa(s)
	}
	return SlotLabel + " in (" + strings.Join(texts, ",") + ")"
}

// ChildSelector selects the children that a manager serves.
func ChildSelector(manager string, slots []int) string {
	selector := ManagerLabel + "=" + manager
	if s := SlotSelector(slots); s != "" {
		selector += "," + s
	}
	return selector
}
