package manager

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// refuseTooManyRights fails when the manager may impersonate the accounts of
// kube-system: with that right alone it could become anybody, and so could
// whoever gets hold of it.
func refuseTooManyRights(ctx context.Context, client kubernetes.Interface) error {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: "kube-system", Verb: "impersonate", Resource: "serviceaccounts",
		},
	}}
	answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("cannot ask for the manager's own rights: %w", err)
	}
	if answer.Status.Allowed {
		return fmt.Errorf("refusing to run: this account may impersonate the service accounts of kube-system, and so become cluster-admin; " +
			"grant impersonate by a Role in each namespace that opts in, never by a ClusterRole, and do not run the manager as an administrator")
	}
	return nil
}
