//go:build !race

package graph

// slowdown is what the race detector may cost.
const slowdown = 1
