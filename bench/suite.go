package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
)

// suite is a run over the chosen measures.
type suite struct {
	rig    *rig.Rig
	o      options
	stderr io.Writer
	key    []byte
}

// measure is one entry of the table.
type measure struct {
	name string
	// quick and full say in which modes it runs.
	quick, full bool
	rows        func(ctx context.Context, s *suite) ([]report.Row, error)
}

// measures are all there is, in the order in which they run: the small ones
// first, since the API server grows with what it has seen.
func measures() []measure {
	return []measure{
		{"requests", true, true, func(ctx context.Context, s *suite) ([]report.Row, error) { return s.requests(ctx, 100) }},
		{"chain-100", true, false, func(ctx context.Context, s *suite) ([]report.Row, error) { return s.chain(ctx, 100) }},
		{"chain-200", false, true, func(ctx context.Context, s *suite) ([]report.Row, error) { return s.chain(ctx, 200) }},
		{"wide-1000", true, true, func(ctx context.Context, s *suite) ([]report.Row, error) { return s.wide(ctx, 1000) }},
		{"wide-5000", false, true, func(ctx context.Context, s *suite) ([]report.Row, error) { return s.wide(ctx, 5000) }},
		{"settled-1000", true, false, func(ctx context.Context, s *suite) ([]report.Row, error) { return s.settled(ctx, 1000, 8*time.Second) }},
		{"settled-5000", false, true, func(ctx context.Context, s *suite) ([]report.Row, error) { return s.settled(ctx, 5000, 30*time.Second) }},
		{"touch-5000", false, true, func(ctx context.Context, s *suite) ([]report.Row, error) { return s.touch(ctx, 5000, 100) }},
	}
}

// chosen are the measures of the mode whose names match -run.
func chosen(o options) []measure {
	return slices.DeleteFunc(measures(), func(m measure) bool {
		return !o.run.MatchString(m.name) || o.quick && !m.quick || !o.quick && !m.full
	})
}

func newSuite(r *rig.Rig, o options, stderr io.Writer) *suite {
	// Any key makes stamps of the right size: nobody verifies the baseline's.
	return &suite{rig: r, o: o, stderr: stderr, key: make([]byte, 32)}
}

// run adds the rows of every measure that is asked for.
func (s *suite) run(ctx context.Context, results *report.Results) error {
	for _, m := range chosen(s.o) {
		began := time.Now()
		fmt.Fprintf(s.stderr, "%s ... ", m.name)
		rows, err := m.rows(ctx, s)
		fmt.Fprintf(s.stderr, "%s s\n", report.Digits(time.Since(began).Seconds()))
		for i := range rows {
			results.Rows = append(results.Rows, rows[i].Judged())
		}
		if err != nil {
			return fmt.Errorf("cannot measure %s: %w", m.name, err)
		}
	}
	return nil
}
