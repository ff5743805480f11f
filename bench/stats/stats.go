package stats

import (
	"math"
	"slices"
)

// Median returns the middle of the samples, the mean of the two middle ones
// when their number is even, NaN for none. The samples are not reordered.
// O(n log n).
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Quantile returns the sample below or at which a share q of all samples lies
// (nearest rank, so it is always one of them), NaN for none. Of fewer than 100
// samples the 99th percentile is the largest. O(n log n).
func Quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Ratios divides each sample by the one it was paired with. The machine
// changes from pair to pair and hardly within one, so that the median of the
// ratios is steadier than the ratio of the medians. The longer slice's rest is
// left out.
func Ratios(over, under []float64) []float64 {
	out := make([]float64, min(len(over), len(under)))
	for i := range out {
		out[i] = over[i] / under[i]
	}
	return out
}

// Verdict says how a result stands to its target.
type Verdict string

// The verdicts.
const (
	// Met is a result that is the target's limit or less.
	Met Verdict = "met"
	// Near is a result above the limit by at most Tolerance.
	Near Verdict = "near"
	// Missed is any other result, NaN included.
	Missed Verdict = "MISSED"
)

// Tolerance is the share of the limit by which a result may exceed it without
// failing the run: two cores that a server shares are no precise scale.
const Tolerance = 0.20

// Judge compares a result, where less is better, with its limit. A limit of
// zero has no tolerance.
func Judge(result, limit float64) Verdict {
	switch {
	case result <= limit:
		return Met
	case result <= limit*(1+Tolerance):
		return Near
	}
	return Missed
}
