package controlplane

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Names of the components, which are the names of their binaries too.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kwok              = "kwok"
)

// Component describes one process of a plane. A plane has its own five; Run
// adds others, such as Truss's manager.
type Component struct {
	// Name is unique in the plane and names the log file.
	Name string `json:"name"`
	// Command is the absolute path of the program and its arguments.
	Command []string `json:"command"`
	// Env is added to the environment, as NAME=value. It is written to the
	// state file, so it is no place for secrets.
	Env []string `json:"env,omitempty"`
	// HealthURL answers 200 when the component is healthy. Empty means that
	// running is being healthy.
	HealthURL string `json:"healthURL,omitempty"`

	// sealed components do not see the environment of the program that
	// starts them: a proxy or feature gate set there would change them.
	sealed bool
}

// own lists the plane's components in the order in which they are started.
func own(l layout, o Options, p ports) []Component {
	all := []Component{
		etcdComponent(l, p),
		apiServerComponent(l, o, p),
		controllerManagerComponent(l, p),
		schedulerComponent(l, p),
		kwokComponent(l),
	}
	for i := range all {
		all[i].Command[0] = filepath.Join(o.BinDir, all[i].Name)
		all[i].Env = []string{"HOME=" + l.dir}
		all[i].sealed = true
	}
	return all
}

// etcdComponent speaks TLS only and asks everyone for a certificate of etcd's
// own authority. It never syncs: what is lost when the machine stops is a
// local plane.
func etcdComponent(l layout, p ports) Component {
	client, peer := loopback(p.Etcd), loopback(p.EtcdPeer)
	return Component{
		Name:      etcd,
		HealthURL: client + "/health",
		Command: []string{"",
			"--name=truss", "--data-dir=" + l.etcdData(),
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=truss=" + peer,
			"--client-cert-auth", "--trusted-ca-file=" + l.pki(etcdCA+".crt"),
			"--cert-file=" + l.pki(etcdServer+".crt"), "--key-file=" + l.pki(etcdServer+".key"),
			"--peer-client-cert-auth", "--peer-trusted-ca-file=" + l.pki(etcdCA+".crt"),
			"--peer-cert-file=" + l.pki(etcdServer+".crt"), "--peer-key-file=" + l.pki(etcdServer+".key"),
			// One member elects itself: waiting a second for rivals helps nobody.
			"--heartbeat-interval=20", "--election-timeout=100",
			"--unsafe-no-fsync", "--quota-backend-bytes=8589934592",
			"--log-level=warn",
		},
	}
}

func apiServerComponent(l layout, o Options, p ports) Component {
	args := []string{"",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.APIServer),
		"--tls-cert-file=" + l.pki(servingPair+".crt"), "--tls-private-key-file=" + l.pki(servingPair+".key"),
		"--client-ca-file=" + l.pki(apiCA+".crt"),
		"--etcd-servers=" + loopback(p.Etcd), "--etcd-cafile=" + l.pki(etcdCA+".crt"),
		"--etcd-certfile=" + l.pki(etcdClient+".crt"), "--etcd-keyfile=" + l.pki(etcdClient+".key"),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction,ServiceAccount,PodSecurity",
		"--enable-priority-and-fairness=true",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + l.pki(tokenPair+".key"),
		"--service-account-signing-key-file=" + l.pki(tokenPair+".key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		// A loopback address may not be an endpoint of the service `kubernetes`.
		"--endpoint-reconciler-type=none",
		"--profiling=false",
	}
	args = append(args, aggregationArgs(l)...)
	args = append(args, auditArgs(l, o.Detached)...)
	return Component{
		Name:      apiServer,
		HealthURL: loopback(p.APIServer) + "/readyz",
		Command:   append(args, o.ExtraAPIServerArgs...),
	}
}

// aggregationArgs let APIServices be served by extension API servers.
func aggregationArgs(l layout) []string {
	return []string{
		"--requestheader-client-ca-file=" + l.pki(frontProxyCA+".crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + l.pki(frontProxyPair+".crt"),
		"--proxy-client-key-file=" + l.pki(frontProxyPair+".key"),
	}
}

// auditArgs make the log complete: a request is answered after its line was
// written. A test's observer reads one file, so only a plane that may run for
// months rotates it.
func auditArgs(l layout, detached bool) []string {
	megabytes := 1 << 20
	if detached {
		megabytes = 256
	}
	return []string{
		"--audit-policy-file=" + l.config("audit-policy.yaml"),
		"--audit-log-path=" + l.auditLog(), "--audit-log-mode=blocking",
		fmt.Sprintf("--audit-log-maxsize=%d", megabytes), "--audit-log-maxbackup=2",
	}
}

func controllerManagerComponent(l layout, p ports) Component {
	return Component{
		Name:      controllerManager,
		HealthURL: loopback(p.ControllerManager) + "/healthz",
		Command: append([]string{"",
			"--use-service-account-credentials",
			"--flex-volume-plugin-dir=" + l.config("flexvolume"), // else one below /usr is made
			"--service-account-private-key-file=" + l.pki(tokenPair+".key"),
			"--root-ca-file=" + l.pki(apiCA+".crt"),
			"--cluster-signing-cert-file=" + l.pki(apiCA+".crt"),
			"--cluster-signing-key-file=" + l.pki(apiCA+".key"),
		}, controllerArgs(l, controllerManager, p.ControllerManager)...),
	}
}

func schedulerComponent(l layout, p ports) Component {
	return Component{
		Name:      scheduler,
		HealthURL: loopback(p.Scheduler) + "/healthz",
		Command:   append([]string{""}, controllerArgs(l, scheduler, p.Scheduler)...),
	}
}

// controllerArgs are common to the controller manager and the scheduler.
func controllerArgs(l layout, name string, port int) []string {
	config := l.kubeconfig(name)
	return []string{
		"--kubeconfig=" + config,
		"--authentication-kubeconfig=" + config,
		"--authorization-kubeconfig=" + config,
		"--leader-elect=false",
		// At the default rate of 20 the first start takes 3 s longer, and a
		// thousand garbage collected objects take a minute.
		"--kube-api-qps=1000", "--kube-api-burst=2000",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + l.pki(servingPair+".crt"), "--tls-private-key-file=" + l.pki(servingPair+".key"),
		"--profiling=false",
	}
}

// kwokComponent serves nothing: its health is that nodes become Ready.
func kwokComponent(l layout) Component {
	return Component{
		Name: kwok,
		Command: []string{"",
			"--kubeconfig=" + l.kubeconfig(kwok),
			"--config=" + l.config("kwok.yaml"),
			"--manage-all-nodes", "--enable-crds=Stage",
			"--node-ip=10.0.0.1", "--cidr=10.0.0.1/24",
		},
	}
}

func loopback(port int) string { return fmt.Sprintf("https://127.0.0.1:%d", port) }

// same says that two descriptions start the same process.
func (c Component) same(other Component) bool {
	const separator = "\x00"
	return strings.Join(c.Command, separator) == strings.Join(other.Command, separator) &&
		strings.Join(c.Env, separator) == strings.Join(other.Env, separator)
}
