package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/truss-dev/truss/bundle"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
)

func TestConsentIsARoleAndARoleBindingToApply(t *testing.T) {
	owner := &resource.Owner{Namespace: "shop", ServiceAccount: "runner"}
	cases := map[string]struct {
		reason, refusal string
		want            rbacv1.Subject
	}{
		"ServiceAccount": {
			"the manager is a service account, as in deploy/default",
			`serviceaccounts "runner" is forbidden: User "system:serviceaccount:ops:truss" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "shop"`,
			rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ops", Name: "truss"},
		},
		"Constrained": {
			"API servers with constrained impersonation word it by verb",
			`configmaps is forbidden: User "system:serviceaccount:ops:truss" cannot impersonate-on:serviceaccount:list resource "configmaps" in API group "" in the namespace "shop"`,
			rbacv1.Subject{Kind: "ServiceAccount", Namespace: "ops", Name: "truss"},
		},
		"Person": {
			"a manager that runs as a person",
			`serviceaccounts "runner" is forbidden: User "ada@example.com" cannot impersonate resource "serviceaccounts"`,
			rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ada@example.com"},
		},
		"OtherWords": {
			"an answer in other words still gives a remedy",
			"no", rbacv1.Subject{Kind: "ServiceAccount", Namespace: "truss-system", Name: "truss-manager"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			message := consent(owner, tc.refusal)
			_, text, _ := strings.Cut(message, "apply: ")
			var list struct{ Items []map[string]any }
			if err := yaml.Unmarshal([]byte(text), &list); err != nil {
				t.Fatalf("%s: %q is no YAML: %v", tc.reason, text, err)
			}
			role, binding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
			decode(t, list.Items[0], role)
			decode(t, list.Items[1], binding)
			wantRules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, ResourceNames: []string{"runner"}, Verbs: []string{"impersonate"}}}
			if diff := cmp.Diff(wantRules, role.Rules); diff != "" || role.Namespace != "shop" {
				t.Errorf("%s: the role (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]rbacv1.Subject{tc.want}, binding.Subjects); diff != "" || binding.RoleRef.Name != role.Name {
				t.Errorf("%s: the binding (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func decode(t *testing.T, from, to any) {
	t.Helper()
	text, err := yaml.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, to); err != nil {
		t.Fatal(err)
	}
}

func TestRowsReferToTheConditionThatHasTheRemedy(t *testing.T) {
	rows := []bundle.NodeReport{
		{Name: "a", Reason: "Collision", Message: "taken"},
		{Name: "b", Reason: writer.ReasonImpersonationForbidden, Message: "first answer"},
		{Name: "c", Reason: writer.ReasonImpersonationForbidden, Message: "second answer"},
	}
	refusal, refused := referToConsent(&resource.Owner{ServiceAccount: "runner"}, rows)
	if refusal != "first answer" || !refused {
		t.Errorf("got %q, %v", refusal, refused)
	}
	for _, row := range rows[1:] {
		if !strings.Contains(row.Message, `"runner"`) || !strings.Contains(row.Message, "condition ImpersonationForbidden") {
			t.Errorf("%s: %s", row.Name, row.Message)
		}
	}
	if rows[0].Message != "taken" {
		t.Errorf("other rows must stay as they are: %s", rows[0].Message)
	}
}
