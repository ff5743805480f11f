package executor

import (
	"fmt"
	"runtime/debug"

	"github.com/go-logr/logr"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

// ReasonPanic is given when looking at an object hit a bug in Truss.
const ReasonPanic = "Panic"

// guarded calls look and turns a panic into a verdict: one object that hits a
// bug must not end the process again and again, and with it all other owners.
// The value of the panic goes to the log only, since it could quote data.
func guarded(log logr.Logger, id resource.Identity, look func() (*verdict, bool)) (v *verdict, changed bool) {
	defer func() {
		if p := recover(); p != nil {
			log.Error(fmt.Errorf("panic: %v", p), "looking at an object panicked", "object", id.String(), "stack", string(debug.Stack()))
			v, changed = &verdict{
				state: graph.Error, reason: ReasonPanic, retry: slowRetryMax,
				message: fmt.Sprintf("looking at %s hit a bug in Truss: see the manager's log and report it; tried again in %s", id, slowRetryMax),
			}, false
		}
	}()
	return look()
}
