package controlplane

import "time"

// Names of the key pairs in DIR/pki. etcd and the aggregation layer have
// authorities of their own: a client certificate that the API's authority
// signs (a CertificateSigningRequest suffices for one) must open neither.
const (
	apiCA          = "ca"
	etcdCA         = "etcd-ca"
	frontProxyCA   = "front-proxy-ca"
	servingPair    = "serving"
	etcdServer     = "etcd-server"
	etcdClient     = "etcd-client"
	frontProxyPair = "front-proxy-client"
	tokenPair      = "service-account"
)

// adminGroup is bound to cluster-admin by RBAC, unlike system:masters, which
// no rule can restrict.
const adminGroup = "truss:admins"

// pki is what later steps need of the certificates in memory.
type pki struct {
	api, etcd *authority
}

// createPKI reads or makes every key pair.
func createPKI(l layout) (*pki, error) {
	api, err := l.loadAuthority(apiCA)
	if err != nil {
		return nil, err
	}
	etcdRoot, err := l.loadAuthority(etcdCA)
	if err != nil {
		return nil, err
	}
	frontProxy, err := l.loadAuthority(frontProxyCA)
	if err != nil {
		return nil, err
	}
	leaves := []struct {
		name string
		by   *authority
		who  subject
	}{
		{servingPair, api, subject{user: "truss-local", hosts: servingHosts()}},
		{tokenPair, api, subject{user: "service-account-tokens"}},
		{etcdServer, etcdRoot, subject{user: "etcd", hosts: []string{"127.0.0.1", "localhost"}}},
		{etcdClient, etcdRoot, subject{user: "kube-apiserver"}},
		{frontProxyPair, frontProxy, subject{user: "front-proxy-client"}},
	}
	for _, leaf := range leaves {
		if _, err := l.load(leaf.name, func() (keyPair, error) { return leaf.by.issue(leaf.who) }); err != nil {
			return nil, err
		}
	}
	return &pki{api: api, etcd: etcdRoot}, nil
}

// bootstrapSubject is the one member of system:masters. Its certificate binds
// the first roles, is never written to disk and soon expires.
func bootstrapSubject() subject {
	return subject{user: "truss-local-bootstrap", groups: []string{"system:masters"}, lifetime: 10 * time.Minute}
}

// servingHosts are the names under which the plane's servers are reached: the
// loopback names, and those that in-cluster clients use.
func servingHosts() []string {
	return []string{
		"127.0.0.1", "localhost", "10.96.0.1",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local",
	}
}

func (l layout) loadAuthority(name string) (*authority, error) {
	pair, err := l.load(name, func() (keyPair, error) {
		a, err := newAuthority("truss-local-" + name)
		if err != nil {
			return keyPair{}, err
		}
		return a.keyPair, nil
	})
	if err != nil {
		return nil, err
	}
	return parseAuthority(pair)
}
