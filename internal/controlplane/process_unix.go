//go:build unix && !linux

package controlplane

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes put a child into its own session when it shall outlive its
// starter, else into its own process group. Only Linux can tie it to the life
// of its starter: here a starter that is killed leaves it behind.
func attributes(detached bool) *syscall.SysProcAttr {
	if detached {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// birth gives the time at which process pid started, in seconds; ok is false
// when there is no such process or it only waits to be reaped.
func birth(pid int) (at string, ok bool) {
	if pid <= 0 {
		return "", false
	}
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	stat, at, found := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || !found || strings.HasPrefix(stat, "Z") {
		return "", false
	}
	return strings.TrimSpace(at), true
}
