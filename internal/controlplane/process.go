package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// lastLinesShown is how much of a log an error or a status quotes.
const lastLinesShown = 10

// process is a component that was started, by this program or by an earlier
// one.
type process struct {
	record
	// exited is closed when a child is gone; nil for another's child, which
	// can only be looked for.
	exited chan struct{}
	// reason says how a child ended; valid once exited is closed.
	reason string
}

// spawn starts c with its output appended to the file at log.
func spawn(c Component, log string, detached bool) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the log of %s: %w", c.Name, err)
	}
	defer func() { _ = out.Close() }() // the child has its own descriptor
	cmd := exec.Command(c.Command[0], c.Command[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = environment(c)
	cmd.SysProcAttr = attributes(detached)
	p := &process{exited: make(chan struct{})}
	if err := p.run(cmd); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", c.Name, err)
	}
	p.PID, p.StartedAt = cmd.Process.Pid, time.Now()
	p.Birth, _ = birth(p.PID) // empty when it is gone already
	return p, nil
}

// run starts cmd and waits for it on a thread of its own, which lives as long
// as the child: on Linux the child is killed when the thread that started it
// ends, and Go may end any other.
func (p *process) run(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // what it says is in ProcessState
		p.reason = cmd.ProcessState.String()
		close(p.exited)
	}()
	return <-started
}

func environment(c Component) []string {
	if c.sealed {
		return append([]string{"PATH=" + os.Getenv("PATH")}, c.Env...)
	}
	return append(os.Environ(), c.Env...)
}

// alive says whether the process runs. A zombie does not.
func (p *process) alive() bool {
	if p.exited != nil {
		select {
		case <-p.exited:
			return false
		default:
			return true
		}
	}
	b, ok := birth(p.PID)
	return ok && b == p.Birth
}

// wait reports whether the process was gone within the time. A child's end is
// an event; another's process has to be looked for.
func (p *process) wait(within time.Duration) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for p.alive() {
		select {
		case <-p.exited:
		case <-look.C:
		case <-deadline.C:
			return !p.alive()
		}
	}
	return true
}

// stop asks the process to end, and kills it and its descendants when it does
// not within the grace period.
func (p *process) stop(grace time.Duration) error {
	if !p.alive() {
		return nil
	}
	if grace > 0 && terminate(p.PID) == nil && p.wait(grace) {
		return nil
	}
	if err := killGroup(p.PID); err != nil && p.alive() {
		return fmt.Errorf("cannot kill process %d: %w", p.PID, err)
	}
	if !p.wait(5 * time.Second) {
		return fmt.Errorf("cannot stop process %d: it outlives SIGKILL", p.PID)
	}
	return nil
}

// lastLines gives the end of a log, oldest line first; nothing when it cannot
// be read. It reads at most 16 KiB.
func lastLines(path string, n int) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	const window = 16 << 10
	if info, err := f.Stat(); err == nil && info.Size() > window {
		_, _ = f.Seek(-window, 2)
	}
	buf := make([]byte, window)
	read, _ := f.Read(buf)
	text := strings.TrimRight(string(buf[:read]), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(0, len(lines)-n):]
}
