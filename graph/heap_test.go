package graph

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestHeapGivesTheHeaviestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 40
		weight := rapid.SliceOfN(rapid.Int64Range(0, 5), n, n).Draw(t, "weight")
		if rapid.Bool().Draw(t, "unweighted") {
			weight = nil
		}
		h := newHeap(n, weight)
		var in []int32 // what the heap should hold
		first := func(a, b int32) int {
			if h.before(a, b) {
				return -1
			}
			return 1
		}
		node := rapid.Int32Range(0, n-1)
		push := func(t *rapid.T) {
			i := node.Draw(t, "node")
			h.push(i)
			if !slices.Contains(in, i) {
				in = append(in, i)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": push, "push more": push,
			"remove": func(t *rapid.T) {
				i := node.Draw(t, "node")
				h.remove(i)
				in = slices.DeleteFunc(in, func(k int32) bool { return k == i })
			},
			"pop": func(t *rapid.T) {
				if len(in) == 0 {
					t.Skip("empty")
				}
				want := slices.MinFunc(in, first)
				if got := h.pop(); got != want {
					t.Fatalf("pop() = %d, want %d", got, want)
				}
				in = slices.DeleteFunc(in, func(k int32) bool { return k == want })
			},
			"": func(t *rapid.T) {
				if h.len() != len(in) {
					t.Fatalf("len() = %d, want %d", h.len(), len(in))
				}
			},
		})
		for slices.SortFunc(in, first); len(in) > 0; in = in[1:] {
			if got := h.pop(); got != in[0] {
				t.Fatalf("pop() = %d, want %d", got, in[0])
			}
		}
	})
}

func TestHeavierNodesComeBeforeLighterAndEarlierBeforeLater(t *testing.T) {
	h := newHeap(4, []int64{1, 7, 7, 3})
	for i := range int32(4) {
		h.push(i)
	}
	var got []int32
	for h.len() > 0 {
		got = append(got, h.pop())
	}
	if want := []int32{1, 2, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestRemovalMovesANodeUpWhereItMust(t *testing.T) {
	// The last node, 7, takes the place of 21, whose parent is 20.
	h := newHeap(27, nil)
	for _, i := range []int32{0, 20, 1, 21, 22, 2, 3, 23, 24, 25, 26, 4, 5, 6, 7} {
		h.push(i)
	}
	h.remove(21)
	var got []int32
	for h.len() > 0 {
		got = append(got, h.pop())
	}
	if want := []int32{0, 1, 2, 3, 4, 5, 6, 7, 20, 22, 23, 24, 25, 26}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
