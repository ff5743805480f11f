package controlplane

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// States of a component.
const (
	// Healthy components run and say that they are healthy.
	Healthy State = "Healthy"
	// Unhealthy components run and do not say so.
	Unhealthy State = "Unhealthy"
	// Exited components were started and are gone, though Stop did not ask
	// them to: they crashed or were killed.
	Exited State = "Exited"
	// Stopped components were stopped with the plane, or never started.
	Stopped State = "Stopped"
)

// State says how a component is doing.
type State string

// Status is what is known of one component.
type Status struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Message says why it is not healthy.
	Message string `json:"message,omitempty"`
	// PID is 0 unless it runs.
	PID int `json:"pid,omitempty"`
	// StartedAt is the time of the last start.
	StartedAt time.Time `json:"startedAt,omitzero"`
	LogPath   string    `json:"logPath"`
	// LastLines ends the log of a component that exited.
	LastLines []string `json:"lastLines,omitempty"`
}

// ExitError says that a component ended while it was needed.
type ExitError struct {
	// Component is its name.
	Component string
	// Reason is its exit status, or empty when it was started by another
	// program.
	Reason string
	// LastLines ends its log.
	LastLines []string
}

// Error names the component and quotes its last words.
func (e *ExitError) Error() string {
	reason := e.Reason
	if reason == "" {
		reason = "gone"
	}
	return fmt.Sprintf("%s exited (%s); its last lines:\n  %s", e.Component, reason, strings.Join(e.LastLines, "\n  "))
}

// Status looks at every component, the plane's own in the order of their start
// and then the added ones. It asks those that run for their health.
func (p *Plane) Status(ctx context.Context) []Status {
	p.mu.Lock()
	all := p.all()
	p.mu.Unlock()
	statuses := make([]Status, 0, len(all))
	for _, c := range all {
		statuses = append(statuses, p.statusOf(ctx, c))
	}
	return statuses
}

func (p *Plane) statusOf(ctx context.Context, c Component) Status {
	s := Status{Name: c.Name, State: Stopped, LogPath: p.layout.log(c.Name)}
	process := p.process(c.Name)
	if process == nil {
		return s
	}
	s.StartedAt = process.StartedAt
	if exit := p.exitError(c.Name); exit != nil {
		s.State, s.Message, s.LastLines = Exited, exit.Reason, exit.LastLines
		return s
	}
	s.State, s.PID = Healthy, process.PID
	if err := p.prober.check(ctx, c); err != nil {
		s.State, s.Message = Unhealthy, err.Error()
	}
	return s
}

// exitError is nil when the component runs or was never started.
func (p *Plane) exitError(name string) *ExitError {
	process := p.process(name)
	if process == nil || process.alive() {
		return nil
	}
	e := &ExitError{Component: name, LastLines: lastLines(p.layout.log(name), lastLinesShown)}
	if process.exited != nil {
		e.Reason = process.reason
	}
	return e
}

// exitOf watches one component.
func (p *Plane) exitOf(name string) func() error {
	return func() error {
		if e := p.exitError(name); e != nil {
			return e
		}
		return nil
	}
}

// anyExit watches the plane's own components.
func (p *Plane) anyExit() error {
	for _, c := range p.components {
		if e := p.exitError(c.Name); e != nil {
			return e
		}
	}
	return nil
}
