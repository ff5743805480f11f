package resource

import "fmt"

// WaitError says that a render needs a value that is not there yet. The node
// stays InProgress and renders again when an input changes.
type WaitError struct {
	// Message is one sentence that names the reference, the need and the path.
	Message string
}

// Error returns the message.
func (e *WaitError) Error() string { return e.Message }

// InvalidError is bad input that only its author can mend. It names the
// node, the field and the remedy, and is shown in the condition, the event
// and the command line alike.
type InvalidError struct {
	// Reason is a CamelCase condition reason, such as UnknownReference.
	Reason string
	// Node is the name of the resource, empty when the owner as a whole is meant.
	Node string
	// Field is the path in the owner's spec, such as spec.resources[3].references[0].path.
	Field string
	// Message says what is wrong and what to write instead.
	Message string
}

// Error returns field, node and message in one line.
func (e *InvalidError) Error() string {
	switch {
	case e.Node != "" && e.Field != "":
		return fmt.Sprintf("%s: resource %q: %s", e.Field, e.Node, e.Message)
	case e.Node != "":
		return fmt.Sprintf("resource %q: %s", e.Node, e.Message)
	case e.Field != "":
		return fmt.Sprintf("%s: %s", e.Field, e.Message)
	}
	return e.Message
}
