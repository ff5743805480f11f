package controlplane

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// testTokenLifetime outlasts any test run.
const testTokenLifetime = 24 * time.Hour

// Dir is the plane's directory, absolute.
func (p *Plane) Dir() string { return p.layout.dir }

// KubeconfigPath is the file for kubectl, for a person who may do everything.
func (p *Plane) KubeconfigPath() string { return p.layout.admin() }

// AuditLogPath is the API server's audit log, a JSON event per line, complete
// at any moment: a request is answered after its line was written.
func (p *Plane) AuditLogPath() string { return p.layout.auditLog() }

// LogPath is the log of a component, whether it runs or not.
func (p *Plane) LogPath(component string) string { return p.layout.log(component) }

// Server is the URL of the API server.
func (p *Plane) Server() string { return loopback(p.state.Ports.APIServer) }

// CA gives the PEM certificate that signed the API server's.
func (p *Plane) CA() []byte { return append([]byte(nil), p.pki.api.cert...) }

// AdminConfig gives a fresh client configuration with the rights of
// cluster-admin, through RBAC, and without client-side rate limiting.
func (p *Plane) AdminConfig() *rest.Config {
	c := p.anonymous()
	c.CertData, c.KeyData = p.admin.cert, p.admin.key
	return c
}

func (p *Plane) anonymous() *rest.Config {
	return unlimited(&rest.Config{
		Host:            p.Server(),
		TLSClientConfig: rest.TLSClientConfig{CAData: p.CA()},
	})
}

// ServiceAccountToken asks the API server for a token of an existing
// ServiceAccount, good for at most lifetime (10 minutes at least).
func (p *Plane) ServiceAccountToken(ctx context.Context, namespace, name string, lifetime time.Duration) (string, error) {
	client, err := kubernetes.NewForConfig(p.AdminConfig())
	if err != nil {
		return "", fmt.Errorf("cannot make a client: %w", err)
	}
	seconds := int64(lifetime / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	got, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot get a token of service account %s/%s: %w", namespace, name, err)
	}
	return got.Status.Token, nil
}

// ServiceAccountConfig gives a client configuration that acts as an existing
// ServiceAccount, with its rights and no others, for a day.
func (p *Plane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	token, err := p.ServiceAccountToken(ctx, namespace, name, testTokenLifetime)
	if err != nil {
		return nil, err
	}
	c := p.anonymous()
	c.BearerToken = token
	return c, nil
}
