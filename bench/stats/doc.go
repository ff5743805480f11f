// Package stats turns the samples of a benchmark into the numbers that are
// printed: medians, quantiles, ratios of interleaved pairs, and the verdict
// against a target.
//
//	samples of bench's measures --> Median, Quantile, Ratios --> Judge --> a row
//
// It is pure and small so that what decides over an exit code can be tested.
package stats
