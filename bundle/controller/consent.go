package controller

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/truss-dev/truss/bundle"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
)

// refusedUser finds who was refused in an answer of the API server, which is
// the one place that surely knows what the manager is called there.
var refusedUser = regexp.MustCompile(`User "([^"]+)" cannot impersonate`)

// consent is what the people of a namespace have to apply so that Truss may
// act as the service account of an owner: a Role that names this one account,
// and a RoleBinding. One line of YAML, since conditions are shown in tables.
func consent(o *resource.Owner, refusal string) string {
	user := "system:serviceaccount:truss-system:truss-manager"
	if found := refusedUser.FindStringSubmatch(refusal); found != nil {
		user = found[1]
	}
	name := "truss-impersonate-" + o.ServiceAccount
	metadata := fmt.Sprintf("metadata: {name: %q, namespace: %q}", name, o.Namespace)
	return fmt.Sprintf("namespace %q has not allowed Truss to act as its service account %q; to allow it, apply: "+
		"{apiVersion: v1, kind: List, items: ["+
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, %s, "+
		`rules: [{apiGroups: [""], resources: [serviceaccounts], resourceNames: [%q], verbs: [impersonate]}]}, `+
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, %s, "+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %q}, subjects: [%s]}]}",
		o.Namespace, o.ServiceAccount, metadata, o.ServiceAccount, metadata, name, subject(user))
}

func subject(user string) string {
	parts := strings.Split(user, ":")
	if len(parts) == 4 && parts[0] == "system" && parts[1] == "serviceaccount" {
		return fmt.Sprintf("{kind: ServiceAccount, namespace: %q, name: %q}", parts[2], parts[3])
	}
	return fmt.Sprintf("{kind: User, apiGroup: rbac.authorization.k8s.io, name: %q}", user)
}

// referToConsent replaces what the API server said about each resource by a
// hint at the condition that has the remedy; it returns the first answer.
func referToConsent(o *resource.Owner, all []bundle.NodeReport) (refusal string, refused bool) {
	for i := range all {
		if all[i].Reason != writer.ReasonImpersonationForbidden {
			continue
		}
		if !refused {
			refusal, refused = all[i].Message, true
		}
		all[i].Message = fmt.Sprintf("Truss may not act as service account %q yet; see the condition %s for what to apply",
			o.ServiceAccount, writer.ReasonImpersonationForbidden)
	}
	return refusal, refused
}
