package graph

import (
	"fmt"
	"testing"
)

// BenchmarkNew compiles 100,000 nodes with 300,000 edges, order included.
// Target: 0.5 s and 200 MB.
func BenchmarkNew(b *testing.B) {
	nodes := layered(100_000, 500, 3)
	b.ReportAllocs()
	for b.Loop() {
		mustCompile(b, nodes)
	}
}

// BenchmarkRun walks that graph from the first node to the last. Target: 0.3 s.
func BenchmarkRun(b *testing.B) {
	g := mustCompile(b, layered(100_000, 500, 3))
	b.ReportAllocs()
	for b.Loop() {
		finish(NewRun(g))
	}
}

// BenchmarkEvent is one change that reaches one dependant, in a settled graph.
// Its cost must not depend on the graph's size.
func BenchmarkEvent(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("%dNodes", n), func(b *testing.B) {
			r := settled(b, n/2)
			b.ReportAllocs()
			for b.Loop() {
				r.Touch(0)
				r.Next()
				r.Set(0, Outcome{State: Ready, Changed: true})
				dependant, _ := r.Next()
				r.Set(dependant, Outcome{State: Ready})
				r.Counts()
				r.Drain()
			}
		})
	}
}

// BenchmarkLeavingReady is one need that fails and recovers, with its dependant.
func BenchmarkLeavingReady(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("%dNodes", n), func(b *testing.B) {
			r := settled(b, n/2)
			b.ReportAllocs()
			for b.Loop() {
				r.Set(0, Outcome{State: Error})
				r.Set(0, Outcome{State: Ready})
				dependant, _ := r.Next()
				r.Set(dependant, Outcome{State: Ready})
				r.Drain()
			}
		})
	}
}
