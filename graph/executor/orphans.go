package executor

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/executor/observer"
)

// recordChanged notices inventory records that outlived their owner: somebody
// took the owner's finalizer off by force. The garbage collector takes care
// of the objects, but our finalizer would keep the record for ever.
func (x *Executor) recordChanged(u *unstructured.Unstructured) {
	if u.GetDeletionTimestamp() == nil || !inventory.RefOf(u).Active {
		return
	}
	x.orphans.Add(types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()})
}

// releaseOrphans releases such records until the context ends. There may be as
// many as there are owners, when a namespace is emptied by force.
func (x *Executor) releaseOrphans(ctx context.Context) {
	stop := context.AfterFunc(ctx, x.orphans.ShutDown)
	defer stop()
	for {
		record, ended := x.orphans.Get()
		if ended {
			return
		}
		if err := x.releaseOrphan(ctx, record); err != nil {
			x.log.Error(err, "cannot release an orphaned inventory", "record", record)
			x.orphans.AddRateLimited(record)
		} else {
			x.orphans.Forget(record)
		}
		x.orphans.Done(record)
	}
}

// releaseOrphan asks the API server itself whether the owner is gone.
func (x *Executor) releaseOrphan(ctx context.Context, record types.NamespacedName) error {
	item, presence := x.recordStore.Get(record.Namespace, record.Name)
	if presence == observer.Absent || item.Object == nil || item.Object.GetDeletionTimestamp() == nil {
		return nil
	}
	owner := metav1.GetControllerOf(item.Object)
	if owner == nil || x.work(owner.UID) != nil {
		return nil
	}
	gone, err := x.ownerGone(ctx, record.Namespace, owner)
	if err != nil || !gone {
		return err
	}
	return x.records.Release(ctx, inventory.RefOf(item.Object))
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
