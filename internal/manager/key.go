package manager

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/truss-dev/truss/graph/executor/writer"
)

// keySecret holds the key that signs what Truss writes. Whoever reads it can
// forge ownership; whoever deletes it makes Truss disown everything.
const (
	keySecret = "truss-mac-key" //nolint:gosec // the name of a Secret, not its content
	keyEntry  = "key"
)

// macKey reads the key, and makes it at the very first start. Of several
// managers that start at once the first one's key is everybody's.
func macKey(ctx context.Context, client kubernetes.Interface, namespace string) (writer.Key, error) {
	secrets := client.CoreV1().Secrets(namespace)
	found, err := secrets.Get(ctx, keySecret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		fresh := make([]byte, writer.KeySize)
		_, _ = rand.Read(fresh) // never fails
		found, err = secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: keySecret, Namespace: namespace},
			Data:       map[string][]byte{keyEntry: fresh},
		}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			found, err = secrets.Get(ctx, keySecret, metav1.GetOptions{})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get the key in Secret %s/%s: %w", namespace, keySecret, err)
	}
	if len(found.Data[keyEntry]) != writer.KeySize {
		return nil, fmt.Errorf("cannot use Secret %s/%s: entry %q must have %d bytes", namespace, keySecret, keyEntry, writer.KeySize)
	}
	return found.Data[keyEntry], nil
}
