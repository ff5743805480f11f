package resource_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/truss-dev/truss/graph/resource"
)

func TestSlotsAreNumbersAndRanges(t *testing.T) {
	for text, c := range map[string]struct {
		reason string
		want   []int
		fails  string
	}{
		"":        {reason: "nothing said means all"},
		"3":       {reason: "a single slot", want: []int{3}},
		"2-4,0,3": {reason: "sorted, each once", want: []int{0, 2, 3, 4}},
		"62-63":   {reason: "the last one counts", want: []int{62, 63}},
		"64":      {reason: "there are 64", fails: "0 to 63"},
		"-1":      {reason: "no negative ones", fails: "-1"},
		"5-2":     {reason: "ranges go up", fails: "5-2"},
		"a":       {reason: "numbers only", fails: "a"},
		"1,,2":    {reason: "no empty parts", fails: "0-31,40"},
	} {
		got, err := resource.ParseSlots(text)
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("ParseSlots(%q) error = %v, want one with %q: %s", text, err, c.fails, c.reason)
		}
		if c.fails == "" && (err != nil || !slices.Equal(got, c.want)) {
			t.Errorf("ParseSlots(%q) = %v, %v, want %v: %s", text, got, err, c.want, c.reason)
		}
	}
}

func TestChildSelectorMatchesTheLabelsOfAnOwner(t *testing.T) {
	o := &resource.Owner{UID: "3f2c", Manager: resource.ManagerCore}
	set := labels.Set(o.Labels())
	for _, c := range []struct {
		reason string
		slots  []int
		want   bool
	}{
		{reason: "all slots", want: true},
		{reason: "its own slot among others", slots: []int{o.Slot(), (o.Slot() + 1) % resource.Slots}, want: true},
		{reason: "another slot", slots: []int{(o.Slot() + 1) % resource.Slots}},
	} {
		s, err := labels.Parse(resource.ChildSelector(resource.ManagerCore, c.slots))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Matches(set); got != c.want {
			t.Errorf("%s: %s matches = %v, want %v", c.reason, s, got, c.want)
		}
	}
}
