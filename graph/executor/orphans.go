package executor

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
)

// orphanQueue bounds the orphaned records that wait for release; those beyond
// it are found again at the next list.
const orphanQueue = 64

// recordChanged notices inventory records that outlived their owner: somebody
// took the owner's finalizer off by force. The garbage collector takes care
// of the objects, but our finalizer would keep the record for ever.
func (x *Executor) recordChanged(u *unstructured.Unstructured) {
	if u.GetDeletionTimestamp() == nil || !inventory.RefOf(u).Active {
		return
	}
	select {
	case x.orphans <- u:
	default:
	}
}

// releaseOrphans releases such records until the context ends.
func (x *Executor) releaseOrphans(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case u := <-x.orphans:
			if err := x.releaseOrphan(ctx, u); err != nil {
				x.log.Error(err, "cannot release an orphaned inventory", "namespace", u.GetNamespace(), "name", u.GetName())
			}
		}
	}
}

// releaseOrphan asks the API server itself whether the owner is gone.
func (x *Executor) releaseOrphan(ctx context.Context, u *unstructured.Unstructured) error {
	owner := metav1.GetControllerOf(u)
	if owner == nil || x.work(owner.UID) != nil {
		return nil
	}
	gone, err := x.ownerGone(ctx, u.GetNamespace(), owner)
	if err != nil || !gone {
		return err
	}
	return x.records.Release(ctx, inventory.RefOf(u))
}

func (x *Executor) ownerGone(ctx context.Context, namespace string, owner *metav1.OwnerReference) (bool, error) {
	gvk := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
	mapping, err := x.cluster.Mapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, err
	}
	own, err := x.cluster.Client(cluster.Account{})
	if err != nil {
		return false, err
	}
	live, err := own.Metadata.Resource(mapping.Resource).Namespace(namespace).Get(ctx, owner.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && live.UID != owner.UID, err
}
