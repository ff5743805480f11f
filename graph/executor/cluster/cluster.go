package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// Options are the settings of a Cluster. The zero value is good.
type Options struct {
	// Version is the version in the user agent; "dev" by default.
	Version string
	// Connections is how many HTTP/2 connections requests are spread over; 2
	// by default. (More did not raise the rate of POSTs to a local API
	// server, 600/s from one client and 1,500/s from 32.)
	Connections int
	// WatchConnections is how many further connections carry the watches; 1
	// by default. Go opens more when the API server's limit of streams is
	// reached.
	WatchConnections int
	// Clock is the real clock by default. It times the retries of discovery.
	Clock clock.PassiveClock
}

// Cluster is the handle on one API server. Safe for concurrent use.
type Cluster struct {
	config *rest.Config
	base   *spread
	mapper *mapper

	mu      sync.Mutex
	clients map[Account]*Client
}

// Client holds the clients of one account. Both share one http.Client.
type Client struct {
	// Account is the identity the requests are made as.
	Account Account
	// Dynamic reads and writes whole objects as JSON.
	Dynamic dynamic.Interface
	// Metadata reads, watches and deletes by metadata alone.
	Metadata metadata.Interface

	raw rest.Interface
}

// New makes the handle on the API server of cfg. Nothing is sent.
//
// Client-side rate limiting is off; answers 429 with Retry-After are waited for
// by client-go. A cfg that impersonates is refused, because its user would be
// replaced by that of an Account without a trace.
func New(cfg *rest.Config, o Options) (*Cluster, error) {
	if cfg.Impersonate.UserName != "" || cfg.Impersonate.UID != "" || len(cfg.Impersonate.Groups) > 0 {
		return nil, errors.New("cannot use a configuration that impersonates: the manager runs as itself")
	}
	o = o.withDefaults()
	own := rest.CopyConfig(cfg)
	own.QPS = -1
	own.RateLimiter = nil
	own.UserAgent = "truss/" + o.Version
	base, err := newSpread(own, o.Connections, o.WatchConnections)
	if err != nil {
		return nil, fmt.Errorf("cannot make the transport for %q: %w", cfg.Host, err)
	}
	disco, err := discovery.NewDiscoveryClientForConfigAndClient(own, &http.Client{Transport: base, Timeout: discoveryTimeout})
	if err != nil {
		return nil, fmt.Errorf("cannot make the discovery client for %q: %w", cfg.Host, err)
	}
	return &Cluster{
		config:  own,
		base:    base,
		mapper:  newMapper(disco, o.Clock),
		clients: map[Account]*Client{},
	}, nil
}

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Connections <= 0 {
		o.Connections = 2
	}
	if o.WatchConnections <= 0 {
		o.WatchConnections = 1
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}

// Client returns the clients that act as a. They are made once per account and
// share all connections. An account that is neither the zero value nor complete
// is an error.
func (c *Cluster) Client(a Account) (*Client, error) {
	if !a.Own() && a.UserName() == "" {
		return nil, fmt.Errorf("cannot act as account %q: %w", a, ErrNoUser)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if client, ok := c.clients[a]; ok {
		return client, nil
	}
	client, err := c.newClient(a)
	if err != nil {
		return nil, fmt.Errorf("cannot make the client of account %q: %w", a, err)
	}
	c.clients[a] = client
	return client, nil
}

func (c *Cluster) newClient(a Account) (*Client, error) {
	var transport http.RoundTripper = c.base
	if !a.Own() {
		transport = &impersonator{user: a.UserName(), next: c.base}
	}
	shared := &http.Client{Transport: transport, Timeout: c.config.Timeout}
	d, err := dynamic.NewForConfigAndClient(c.config, shared)
	if err != nil {
		return nil, err
	}
	m, err := metadata.NewForConfigAndClient(c.config, shared)
	if err != nil {
		return nil, err
	}
	plain := rest.CopyConfig(c.config)
	plain.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	raw, err := rest.UnversionedRESTClientForConfigAndClient(plain, shared)
	if err != nil {
		return nil, err
	}
	return &Client{Account: a, Dynamic: d, Metadata: m, raw: raw}, nil
}

// Forget drops the clients of an account that is no longer used. Clients
// handed out before stay usable.
func (c *Cluster) Forget(a Account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.clients, a)
}

// Close closes the idle connections; for tests and for the end of a process.
func (c *Cluster) Close() {
	c.base.CloseIdleConnections()
}
