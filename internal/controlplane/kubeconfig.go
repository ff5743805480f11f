package controlplane

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is the cluster, user and context name in every kubeconfig.
const contextName = "truss-local"

// identities are the users for whom Start writes a kubeconfig. Their rights
// come from Kubernetes' own bootstrap roles, and for the administrator and
// KWOK from manifests/rbac.yaml.
func identities(l layout) map[string]subject {
	return map[string]subject{
		l.admin():                       {user: "truss-local-admin", groups: []string{adminGroup}},
		l.kubeconfig(controllerManager): {user: "system:kube-controller-manager"},
		l.kubeconfig(scheduler):         {user: "system:kube-scheduler"},
		l.kubeconfig(kwok):              {user: "truss:kwok"},
	}
}

// writeKubeconfigs issues each identity a certificate. They are rewritten on
// every start, since the server's port may have changed.
func writeKubeconfigs(l layout, p *pki, server string) error {
	for path, who := range identities(l) {
		pair, err := p.api.issue(who)
		if err != nil {
			return err
		}
		user := &clientcmdapi.AuthInfo{ClientCertificateData: pair.cert, ClientKeyData: pair.key}
		if err := WriteKubeconfig(path, server, p.api.cert, user); err != nil {
			return err
		}
	}
	return nil
}

// WriteKubeconfig writes a kubeconfig, readable by its owner only, in which
// user talks to server and trusts the PEM certificates ca.
func WriteKubeconfig(path, server string, ca []byte, user *clientcmdapi.AuthInfo) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[contextName] = user
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	config.CurrentContext = contextName
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("cannot write kubeconfig %q: %w", path, err)
	}
	return nil
}

// unlimited switches the client's own rate limiting off: the API server's
// priority and fairness does that better.
func unlimited(c *rest.Config) *rest.Config {
	c.QPS, c.Burst = -1, 0
	return c
}
