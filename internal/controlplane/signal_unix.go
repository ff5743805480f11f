//go:build unix

package controlplane

import (
	"fmt"
	"os"
	"syscall"
)

func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

// killGroup kills the process and what it started: every component leads its
// own process group.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// lockFile holds the lock of a plane's directory until the result is called.
// A second program that starts or stops the plane waits for the first.
func lockFile(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the plane's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("cannot lock %q: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}
