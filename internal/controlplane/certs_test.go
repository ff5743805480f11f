package controlplane

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeysAreMadeOnceAndReadableByTheirOwnerOnly(t *testing.T) {
	l := layout{t.TempDir()}
	if err := l.create(); err != nil {
		t.Fatal(err)
	}
	first, err := createPKI(l)
	if err != nil {
		t.Fatal(err)
	}
	second, err := createPKI(l)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.api.cert, second.api.cert); diff != "" {
		t.Errorf("a new authority would invalidate every kubeconfig:\n%s", diff)
	}
	entries, err := os.ReadDir(l.pki(""))
	if err != nil || len(entries) == 0 {
		t.Fatalf("got %d files and %v", len(entries), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v)", e.Name(), info.Mode(), err)
		}
	}
}

func TestOnlyTheBootstrapIdentityIsAMaster(t *testing.T) {
	for path, who := range identities(layout{"/x"}) {
		for _, group := range who.groups {
			if group == "system:masters" {
				t.Errorf("%s gives rights that RBAC cannot take back", path)
			}
		}
	}
	ca, err := newAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.issue(bootstrapSubject())
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(pair.cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if life := cert.NotAfter.Sub(cert.NotBefore).Hours(); life > 2 {
		t.Errorf("it is good for %.1f hours", life)
	}
}
