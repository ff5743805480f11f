package controlplane

import (
	"bytes"
	_ "embed" // for the policy
)

//go:embed manifests/audit-policy.yaml
var auditPolicy []byte

// DefaultAuditPolicy is the audit policy of a plane whose Options name none:
// one line of metadata per completed request; with bodies for deletions
// (an observer reads their preconditions) and for Truss's own kinds (it reads
// their versions); never the body of a Secret.
func DefaultAuditPolicy() []byte { return bytes.Clone(auditPolicy) }
