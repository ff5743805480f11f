package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// ErrNoUser is returned for a request that has to be made as another account
// and names none. The request is not sent.
var ErrNoUser = errors.New("refusing to send a request that impersonates nobody")

const (
	impersonateUser   = "Impersonate-User"
	impersonatePrefix = "Impersonate-"
)

// impersonator adds the account's user name to each request. It sets no
// groups: the API server adds those of a service account by itself.
type impersonator struct {
	user string
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (i *impersonator) RoundTrip(r *http.Request) (*http.Response, error) {
	if i.user == "" {
		return nil, closeBody(r, ErrNoUser)
	}
	for name := range r.Header {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), impersonatePrefix) {
			return nil, closeBody(r, fmt.Errorf("cannot impersonate %q: the request already carries %s", i.user, name))
		}
	}
	r = r.Clone(r.Context())
	r.Header.Set(impersonateUser, i.user)
	return i.next.RoundTrip(r)
}

// WrappedRoundTripper lets client-go reach the transport below, as it does to
// cancel requests and to close idle connections.
func (i *impersonator) WrappedRoundTripper() http.RoundTripper { return i.next }

// closeBody keeps the contract of RoundTrip, which closes the body on errors
// too.
func closeBody(r *http.Request, err error) error {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return err
}

// spread sends watches over connections of their own and the other requests in
// turn over the rest. HTTP/2 shares one connection between all requests of a
// transport, and with it one flow-control window: the start of a large watch
// would hold back writes.
type spread struct {
	requests, watches []http.RoundTripper
	request, watch    atomic.Uint32
}

// RoundTrip implements http.RoundTripper.
func (s *spread) RoundTrip(r *http.Request) (*http.Response, error) {
	if isWatch(r) {
		return s.watches[next(&s.watch, len(s.watches))].RoundTrip(r)
	}
	return s.requests[next(&s.request, len(s.requests))].RoundTrip(r)
}

// CloseIdleConnections is what http.Client.CloseIdleConnections calls.
func (s *spread) CloseIdleConnections() {
	for _, t := range slices.Concat(s.requests, s.watches) {
		(&http.Client{Transport: t}).CloseIdleConnections()
	}
}

func next(counter *atomic.Uint32, n int) int {
	return int(counter.Add(1) % uint32(n))
}

func isWatch(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.RawQuery, "watch=")
}

// newSpread makes the transports. Each has a dialer of its own, because
// client-go shares one transport between equal configurations.
func newSpread(cfg *rest.Config, requests, watches int) (*spread, error) {
	s := &spread{}
	for i := range requests + watches {
		t, err := newTransport(cfg)
		if err != nil {
			return nil, err
		}
		if i < requests {
			s.requests = append(s.requests, t)
		} else {
			s.watches = append(s.watches, t)
		}
	}
	return s, nil
}

func newTransport(cfg *rest.Config) (http.RoundTripper, error) {
	own := rest.CopyConfig(cfg)
	if own.Dial == nil {
		own.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return rest.TransportFor(own)
}
