package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// certLifetime is long because a local plane is continued, never renewed.
const certLifetime = 10 * 365 * 24 * time.Hour

// keyPair is a certificate and its key, both PEM.
type keyPair struct{ cert, key []byte }

// authority signs certificates.
type authority struct {
	keyPair
	parsed *x509.Certificate
	signer *ecdsa.PrivateKey
}

// subject says whom a certificate names and what it may be used for. With
// hosts it is a server's as well as a client's.
type subject struct {
	user     string
	groups   []string
	hosts    []string
	lifetime time.Duration
}

func newAuthority(name string) (*authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	pair, err := sign(template, certLifetime, nil)
	if err != nil {
		return nil, err
	}
	return parseAuthority(pair)
}

// issue makes a key and a certificate for s.
func (a *authority) issue(s subject) (keyPair, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: s.user, Organization: s.groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, h := range s.hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, h)
	}
	if len(s.hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	lifetime := s.lifetime
	if lifetime == 0 {
		lifetime = certLifetime
	}
	return sign(template, lifetime, a)
}

// sign completes the template; without a parent it signs itself. An hour of
// the past is allowed for, so that a clock set back does no harm.
func sign(template *x509.Certificate, lifetime time.Duration, parent *authority) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, fmt.Errorf("cannot generate a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return keyPair{}, fmt.Errorf("cannot choose a serial number: %w", err)
	}
	now := time.Now()
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(lifetime)
	issuer, signer := template, key
	if parent != nil {
		issuer, signer = parent.parsed, parent.signer
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, signer)
	if err != nil {
		return keyPair{}, fmt.Errorf("cannot sign certificate %q: %w", template.Subject.CommonName, err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return keyPair{}, fmt.Errorf("cannot encode a key: %w", err)
	}
	return keyPair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

func parseAuthority(pair keyPair) (*authority, error) {
	certBlock, _ := pem.Decode(pair.cert)
	keyBlock, _ := pem.Decode(pair.key)
	if certBlock == nil || keyBlock == nil {
		return nil, errors.New("cannot read a certificate authority: not PEM")
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("cannot parse a certificate authority: %w", err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, fmt.Errorf("cannot parse the key of authority %q: %w", cert.Subject.CommonName, err)
	}
	return &authority{keyPair: pair, parsed: cert, signer: key}, nil
}

// load reads NAME.crt and NAME.key of the plane, or makes and writes them
// when the key is not there.
func (l layout) load(name string, create func() (keyPair, error)) (keyPair, error) {
	crt, key := l.pki(name+".crt"), l.pki(name+".key")
	if _, err := os.Stat(key); err == nil {
		return readPair(crt, key)
	}
	pair, err := create()
	if err != nil {
		return keyPair{}, err
	}
	if err := os.WriteFile(crt, pair.cert, 0o600); err != nil {
		return keyPair{}, fmt.Errorf("cannot write certificate %q: %w", name, err)
	}
	if err := os.WriteFile(key, pair.key, 0o600); err != nil {
		return keyPair{}, fmt.Errorf("cannot write the key of %q: %w", name, err)
	}
	return pair, nil
}

func readPair(crt, key string) (keyPair, error) {
	certPEM, err := os.ReadFile(crt)
	if err != nil {
		return keyPair{}, fmt.Errorf("cannot read certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(key)
	if err != nil {
		return keyPair{}, fmt.Errorf("cannot read key: %w", err)
	}
	return keyPair{cert: certPEM, key: keyPEM}, nil
}
