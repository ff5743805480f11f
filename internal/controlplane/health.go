package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// pollInterval is how often Start looks whether something is ready. It bounds
// the time lost after each step.
const pollInterval = 20 * time.Millisecond

// prober asks components for their health.
type prober struct {
	etcd, others *http.Client
}

// newProber trusts the plane's own authorities only, and shows etcd the
// certificate without which it answers nobody.
func newProber(l layout, p *pki) (*prober, error) {
	pair, err := tls.LoadX509KeyPair(l.pki(etcdClient+".crt"), l.pki(etcdClient+".key"))
	if err != nil {
		return nil, fmt.Errorf("cannot load etcd's client certificate: %w", err)
	}
	return &prober{
		etcd:   probeClient(&tls.Config{RootCAs: pool(p.etcd), Certificates: []tls.Certificate{pair}}),
		others: probeClient(&tls.Config{RootCAs: pool(p.api)}),
	}, nil
}

func pool(a *authority) *x509.CertPool {
	certs := x509.NewCertPool()
	certs.AddCert(a.parsed)
	return certs
}

// probeClient opens a connection per probe: one kept open would delay the
// graceful end of the server at its other end.
func probeClient(c *tls.Config) *http.Client {
	return &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true},
	}
}

// check gives nil when c answers its health URL with 200.
func (p *prober) check(ctx context.Context, c Component) error {
	if c.HealthURL == "" {
		return nil
	}
	client := p.others
	if c.Name == etcd {
		client = p.etcd
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.HealthURL, nil)
	if err != nil {
		return fmt.Errorf("cannot ask %s for its health: %w", c.Name, err)
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot ask %s for its health: %w", c.Name, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	return fmt.Errorf("%s is not healthy: %s %s", c.Name, res.Status, strings.Join(strings.Fields(string(body)), " "))
}

// until calls try every pollInterval until it gives nil, the context ends, or
// broken gives an error. The error at the context's end holds try's last one.
func until(ctx context.Context, what string, broken func() error, try func(context.Context) error) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if fatal := broken(); fatal != nil {
			return fatal
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cannot wait for %s any longer: %w (last: %w)", what, ctx.Err(), err)
		case <-tick.C:
		}
	}
}
