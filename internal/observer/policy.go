package observer

import (
	"strconv"
	"strings"
)

// policyHead and policyTail hold what does not depend on users. The first rule
// that matches decides: Secrets come before all that log bodies.
const (
	policyHead = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Request
  verbs: [delete, deletecollection]
  resources: [{group: "", resources: [secrets]}]
- level: Metadata
  resources: [{group: "", resources: [secrets, serviceaccounts/token]}]
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
  users: [`
	policyTail = `]
- level: RequestResponse
  verbs: [delete, deletecollection]
- level: Metadata
`
)

// AuditPolicy gives the audit policy, in YAML, that tells an observer of users
// the most: bodies of what they write, so that preconditions of patches and
// the version that each write made are known, but never the body of a Secret.
// With controlplane.DefaultAuditPolicy the observer works too; there the
// preconditions of most patches are not visible and not checked.
func AuditPolicy(users ...string) []byte {
	quoted := make([]string, len(users))
	for i, u := range users {
		quoted[i] = strconv.Quote(u)
	}
	return []byte(policyHead + strings.Join(quoted, ", ") + policyTail)
}
