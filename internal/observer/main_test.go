package observer_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/observer"
)

// The account that plays Truss in these tests. It may do everything, so that
// it can do wrong.
const (
	system  = "truss-system"
	account = "truss-manager"
	truss   = "system:serviceaccount:" + system + ":" + account
)

// plane is the control plane of all tests of this package; nil when it was
// not built. watching observes it.
var (
	plane    *controlplane.Plane
	watching *observer.Observer
)

func TestMain(m *testing.M) {
	os.Exit(controlplanetest.Main(m, controlplane.Options{AuditPolicy: observer.AuditPolicy(truss)}, func(p *controlplane.Plane) {
		plane = p
		if p == nil {
			return
		}
		err := install(context.Background(), p)
		if err == nil {
			watching, err = observe(context.Background(), p, observer.Options{})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}))
}

func install(ctx context.Context, p *controlplane.Plane) error {
	crds, err := deploy.CRDs()
	if err != nil {
		return err
	}
	if err := p.Apply(ctx, crds...); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(p.AdminConfig())
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().ServiceAccounts(system).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "truss-may-all"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: account}},
	}, metav1.CreateOptions{})
	return err
}
