package stats_test

import (
	"math"
	"slices"
	"testing"

	"github.com/truss-dev/truss/bench/stats"
)

func TestMedianIsTheMiddleSample(t *testing.T) {
	for name, c := range map[string]struct {
		samples []float64
		want    float64
		reason  string
	}{
		"odd":     {[]float64{9, 1, 5}, 5, "the order of the samples does not matter"},
		"even":    {[]float64{4, 1, 2, 9}, 3, "the mean of the two in the middle"},
		"one":     {[]float64{7}, 7, "a single sample is its own median"},
		"outlier": {[]float64{1, 1, 1, 1, 100}, 1, "one slow run says nothing"},
		"none":    {nil, math.NaN(), "no sample is no result, and no result is no success"},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(c.samples)
			if got := stats.Median(c.samples); !same(got, c.want) {
				t.Errorf("Median(%v) = %v, want %v: %s", c.samples, got, c.want, c.reason)
			}
			if !slices.Equal(before, c.samples) {
				t.Errorf("Median reordered its samples, which pairs rely on: %v", c.samples)
			}
		})
	}
}

func TestQuantileIsASample(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for name, c := range map[string]struct {
		samples []float64
		q, want float64
		reason  string
	}{
		"p99 of 100": {hundred, 0.99, 99, "one in a hundred is above"},
		"p50 of 100": {hundred, 0.5, 50, "nearest rank, not the mean of two"},
		"p99 of 3":   {[]float64{1, 3, 2}, 0.99, 3, "few samples: the largest"},
		"zero":       {[]float64{3, 1}, 0, 1, "the smallest"},
		"none":       {nil, 0.5, math.NaN(), "nothing was measured"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := stats.Quantile(c.samples, c.q); !same(got, c.want) {
				t.Errorf("Quantile(%v) = %v, want %v: %s", c.q, got, c.want, c.reason)
			}
		})
	}
}

func TestRatiosArePairwise(t *testing.T) {
	for name, c := range map[string]struct {
		over, under, want []float64
		reason            string
	}{
		"drift":  {[]float64{2, 20}, []float64{1, 10}, []float64{2, 2}, "a machine that became slower within the run changes no ratio"},
		"uneven": {[]float64{2, 4, 6}, []float64{1, 2}, []float64{2, 2}, "a sample without its partner says nothing"},
		"none":   {nil, []float64{1}, []float64{}, "no pairs"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := stats.Ratios(c.over, c.under); !slices.Equal(got, c.want) {
				t.Errorf("Ratios = %v, want %v: %s", got, c.want, c.reason)
			}
		})
	}
}

func TestVerdictAllowsAFifthAndNothingAboveZero(t *testing.T) {
	for name, c := range map[string]struct {
		result, limit float64
		want          stats.Verdict
		reason        string
	}{
		"below":       {1.1, 1.25, stats.Met, "better than asked"},
		"at":          {1.25, 1.25, stats.Met, "the limit is allowed"},
		"above":       {1.45, 1.25, stats.Near, "16 % above"},
		"far above":   {1.51, 1.25, stats.Missed, "over 20 % above"},
		"zero":        {0, 0, stats.Met, "no request where none is allowed"},
		"one of zero": {1, 0, stats.Missed, "a fifth of nothing is nothing"},
		"no result":   {math.NaN(), 1, stats.Missed, "what was not measured was not met"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := stats.Judge(c.result, c.limit); got != c.want {
				t.Errorf("Judge(%v, %v) = %s, want %s: %s", c.result, c.limit, got, c.want, c.reason)
			}
		})
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
