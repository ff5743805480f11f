package observer_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/observer"
)

// The API server refuses a second object of one name, so that only an object
// that was lost behind its back can be created twice.
func TestAnObjectThatWasLostInStorageIsCreatedTwice(t *testing.T) {
	s := newStage(t, plane, watching)
	o := s.owner("o")
	s.record(o, s.entry("a"))
	s.make(o, "a")
	if err := lose(plane, "/registry/configmaps/"+s.namespace+"/a"); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(func() bool {
		_, err := s.truss.Resource(configMaps).Namespace(s.namespace).Get(t.Context(), "a", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}).Should(BeTrue())
	s.make(o, "a")
	if diff := cmp.Diff([]observer.Invariant{observer.DoubleCreate}, s.violations()); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// lose removes a key from etcd, through its JSON gateway.
func lose(p *controlplane.Plane, key string) error {
	client, err := etcdClient(p)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(p.Dir(), "state.json"))
	if err != nil {
		return err
	}
	var state struct{ Ports struct{ Etcd int } }
	if err := json.Unmarshal(text, &state); err != nil {
		return err
	}
	body := fmt.Sprintf(`{"key":%q}`, base64.StdEncoding.EncodeToString([]byte(key)))
	url := fmt.Sprintf("https://127.0.0.1:%d/v3/kv/deleterange", state.Ports.Etcd)
	answer, err := client.Post(url, "application/json", bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	if err != nil || !bytes.Contains(said, []byte(`"deleted":"1"`)) {
		return fmt.Errorf("etcd deleted nothing: %s %w", said, err)
	}
	return nil
}

func etcdClient(p *controlplane.Plane) (*http.Client, error) {
	pki := filepath.Join(p.Dir(), "pki")
	pair, err := tls.LoadX509KeyPair(filepath.Join(pki, "etcd-client.crt"), filepath.Join(pki, "etcd-client.key"))
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(filepath.Join(pki, "etcd-ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}, nil
}
