package report

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"strings"
)

// Machine is where a run took place: numbers of different machines, or of one
// under different load, are not to be compared.
type Machine struct {
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	Memory   string `json:"memory,omitempty"`
	Kernel   string `json:"kernel,omitempty"`
	Platform string `json:"platform"`
	// LoadBefore and LoadAfter are the load averages of 1, 5 and 15 minutes.
	// What the benchmark itself causes is in the second.
	LoadBefore string `json:"loadBefore,omitempty"`
	LoadAfter  string `json:"loadAfter,omitempty"`
	// Versions of Truss, Go and the API server.
	Versions map[string]string `json:"versions"`
}

// Inspect describes this machine, as far as /proc tells.
func Inspect() Machine {
	return Machine{
		CPU: field("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(),
		Memory: field("/proc/meminfo", "MemTotal"), Kernel: first("/proc/sys/kernel/osrelease", 1),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, LoadBefore: Load(),
		Versions: map[string]string{"go": runtime.Version()},
	}
}

// Load returns the load averages, empty where they cannot be had.
func Load() string { return first("/proc/loadavg", 3) }

// first gives the first n words of a file.
func first(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	words := strings.Fields(string(text))
	return strings.Join(words[:min(n, len(words))], " ")
}

// field gives the value of the first line "name : value".
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		key, value, found := strings.Cut(lines.Text(), ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
