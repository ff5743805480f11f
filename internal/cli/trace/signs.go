package trace

import "github.com/truss-dev/truss/internal/cli/terminal"

// signs are the marks of a drawing.
type signs struct {
	cut                         string
	branch, corner, pass, blank string
	ready, active, waits        string
	failed, absent, unknown     string
}

// critical stands before resources of the critical path.
const critical = "*"

func unicodeSigns() signs {
	return signs{
		cut:    "…",
		branch: "├─ ", corner: "└─ ", pass: "│  ", blank: "   ",
		ready: "✔", active: "●", waits: "○", failed: "✖", absent: "–", unknown: "?",
	}
}

func asciiSigns() signs {
	return signs{
		cut:    "...",
		branch: "|- ", corner: "`- ", pass: "|  ", blank: "   ",
		ready: "+", active: "~", waits: ".", failed: "x", absent: "-", unknown: "?",
	}
}

// of returns the sign of a state.
func (s *signs) of(state State) string {
	switch state {
	case Ready, Gone:
		return s.ready
	case InProgress, Deleting:
		return s.active
	case Blocked, Waiting:
		return s.waits
	case Error:
		return s.failed
	case Excluded:
		return s.absent
	default:
		return s.unknown
	}
}

// colourOf returns the colour of a state.
func colourOf(s State) terminal.Colour {
	switch s {
	case Ready, Gone:
		return terminal.Good
	case InProgress, Deleting:
		return terminal.Active
	case Error:
		return terminal.Bad
	case Blocked, Waiting:
		return terminal.Unsure
	default:
		return terminal.Faint
	}
}
