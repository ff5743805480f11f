package reconciler

import "time"

// A status that only tells of progress is written after this many times the
// duration of the last write, and never sooner than minPause.
const (
	pauseFactor = 20
	minPause    = 500 * time.Millisecond
)

// pace decides when an owner's status may be written: a large owner is
// expensive to write, and its watchers get it whole each time.
type pace struct {
	last time.Time
	took time.Duration
}

// wait returns how long a write has to wait, zero when it may go now.
func (p *pace) wait(now time.Time, urgent bool) time.Duration {
	if urgent {
		return 0
	}
	return max(0, max(minPause, pauseFactor*p.took)-now.Sub(p.last))
}

func (p *pace) wrote(began, ended time.Time) {
	p.last, p.took = ended, ended.Sub(began)
}
