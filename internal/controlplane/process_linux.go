package controlplane

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// attributes put a child into its own session when it shall outlive its
// starter, else into its own process group, to be killed with its starter.
func attributes(detached bool) *syscall.SysProcAttr {
	if detached {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// birth gives the time at which process pid started, in clock ticks since
// boot (field 22 of /proc/PID/stat, proc(5)); ok is false when there is no
// such process or it only waits to be reaped.
func birth(pid int) (ticks string, ok bool) {
	if pid <= 0 {
		return "", false
	}
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	// The name, field 2, is in parentheses and may itself hold any character.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return "", false
	}
	return string(fields[19]), true
}
