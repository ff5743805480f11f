//go:build !unix

package controlplane

import (
	"errors"
	"syscall"
)

// errNoUnix is what a plane answers on systems without sessions and signals.
var errNoUnix = errors.New("a local control plane needs Linux or macOS")

func attributes(bool) *syscall.SysProcAttr { return nil }

func birth(int) (string, bool) { return "", false }

func terminate(int) error { return errNoUnix }

func killGroup(int) error { return errNoUnix }

func lockFile(string) (func(), error) { return nil, errNoUnix }
