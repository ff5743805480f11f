package controlplane_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// pids are those of the running components, by name.
func pids(t *testing.T, p *controlplane.Plane) map[string]int {
	t.Helper()
	running := map[string]int{}
	for _, s := range p.Status(t.Context()) {
		if s.PID != 0 {
			running[s.Name] = s.PID
		}
	}
	return running
}

func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func named(statuses []controlplane.Status, name string) controlplane.Status {
	i := slices.IndexFunc(statuses, func(s controlplane.Status) bool { return s.Name == name })
	return statuses[i]
}

func TestACrashedComponentIsNamedWithItsLastWordsUntilItIsRestarted(t *testing.T) {
	g := NewWithT(t)
	p := controlplanetest.Start(t, controlplane.Options{})
	for _, s := range p.Status(t.Context()) {
		g.Expect(s.State).To(Equal(controlplane.Healthy), "%s: %s", s.Name, s.Message)
	}
	g.Expect(p.Kill("kube-scheduler")).To(Succeed())
	crashed := named(p.Status(t.Context()), "kube-scheduler")
	g.Expect(crashed.State).To(Equal(controlplane.Exited))
	g.Expect(crashed.Message).To(ContainSubstring("killed"))
	g.Expect(crashed.LastLines).NotTo(BeEmpty())
	log, err := os.ReadFile(crashed.LogPath)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.TrimSpace(string(log))).To(HaveSuffix(crashed.LastLines[len(crashed.LastLines)-1]))

	g.Expect(p.Restart(t.Context(), "kube-scheduler")).To(Succeed())
	g.Expect(named(p.Status(t.Context()), "kube-scheduler").State).To(Equal(controlplane.Healthy))
	g.Expect(p.Kill("kube-proxy")).To(MatchError(ContainSubstring(`"kube-proxy"`)), "there is none")
}

func TestEachComponentCanBeKilledAndRestartedWithoutLoss(t *testing.T) {
	p := controlplanetest.Start(t, controlplane.Options{Nodes: 1})
	namespace := controlplanetest.Namespace(t, p)
	for _, name := range []string{"kwok", "kube-controller-manager", "kube-apiserver", "etcd"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(p.Kill(name)).To(Succeed())
			g.Expect(p.Restart(t.Context(), name)).To(Succeed())
			g.Expect(named(p.Status(t.Context()), name).State).To(Equal(controlplane.Healthy))
			client := controlplanetest.Client(t, p)
			g.Eventually(func() error {
				_, err := client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
				return err
			}, patience).Should(Succeed())
		})
	}
}

func TestAHangingComponentIsUnhealthyAndComesBack(t *testing.T) {
	g := NewWithT(t)
	p := controlplanetest.Start(t, controlplane.Options{})
	g.Expect(p.Signal("kube-controller-manager", syscall.SIGSTOP)).To(Succeed())
	g.Expect(named(p.Status(t.Context()), "kube-controller-manager").State).To(Equal(controlplane.Unhealthy))
	g.Expect(p.Signal("kube-controller-manager", syscall.SIGCONT)).To(Succeed())
	g.Expect(named(p.Status(t.Context()), "kube-controller-manager").State).To(Equal(controlplane.Healthy))
}

func TestStopLeavesNoProcessAndTheNextStartKeepsPortsAndData(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	p := controlplanetest.Start(t, controlplane.Options{Dir: dir, Nodes: 1})
	namespace := controlplanetest.Namespace(t, p)
	before := pids(t, p)
	g.Expect(before).To(HaveLen(5))
	g.Expect(p.Stop()).To(Succeed())
	for name, pid := range before {
		g.Expect(exists(pid)).To(BeFalse(), name)
	}
	for _, s := range p.Status(t.Context()) {
		g.Expect(s.State).To(Equal(controlplane.Stopped), "%s was not lost but stopped", s.Name)
	}
	again := controlplanetest.Start(t, controlplane.Options{Dir: dir, Nodes: 1})
	g.Expect(again.Server()).To(Equal(p.Server()), "kubeconfigs stay valid")
	_, err := controlplanetest.Client(t, again).CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestAComponentThatCannotStartIsNamedWithItsLastWords(t *testing.T) {
	controlplanetest.Need(t, plane)
	g := NewWithT(t)
	dir := t.TempDir()
	_, err := controlplane.Start(t.Context(), controlplane.Options{
		Dir: dir, ExtraAPIServerArgs: []string{"--no-such-flag"},
	})
	var exit *controlplane.ExitError
	g.Expect(errors.As(err, &exit)).To(BeTrue(), "got %v", err)
	g.Expect(exit.Component).To(Equal("kube-apiserver"))
	g.Expect(strings.Join(exit.LastLines, "\n")).To(ContainSubstring("--no-such-flag"))
	p, err := controlplane.Open(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pids(t, p)).To(BeEmpty(), "etcd, which did start, is stopped again")
}

func TestNobodyReachesEtcdWithoutACertificateOfItsOwnAuthority(t *testing.T) {
	controlplanetest.Need(t, plane)
	config := plane.AdminConfig()
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, c := range map[string]struct {
		certificates []tls.Certificate
		reason       string
	}{
		"no certificate":     {nil, "etcd holds every Secret"},
		"an administrator's": {[]tls.Certificate{pair}, "the API's authority signs for whoever asks the API"},
	} {
		t.Run(name, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
				InsecureSkipVerify: true, // what the server asks of the client is the question
				GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					if len(c.certificates) == 0 {
						return &tls.Certificate{}, nil
					}
					return &c.certificates[0], nil
				},
			}}}
			res, err := client.Get(etcdURL(t) + "/health")
			if err == nil {
				_ = res.Body.Close()
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("tls:")), c.reason)
		})
	}
}

// etcdURL is what the API server's process was told.
func etcdURL(t *testing.T) string {
	t.Helper()
	state, err := os.ReadFile(plane.Dir() + "/state.json")
	if err != nil {
		t.Fatal(err)
	}
	port := regexp.MustCompile(`"etcd": (\d+)`).FindSubmatch(state)
	return "https://127.0.0.1:" + string(port[1])
}

// started runs this test binary as a program that starts a plane in dir, until
// it says that it did.
func started(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), starterEnv+"="+dir), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "started\n" {
		t.Fatalf("the starter said %q", line)
	}
	return cmd
}

func TestDetachedProcessesOutliveTheirStarterAndAreFoundAgain(t *testing.T) {
	controlplanetest.Need(t, plane)
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(started(t, dir, detachEnv+"=1").Wait()).To(Succeed())
	p, err := controlplane.Open(dir)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = p.Stop() })
	before := pids(t, p)
	g.Expect(before).To(HaveLen(5))

	g.Expect(p.Kill("kube-scheduler")).To(Succeed())
	again := controlplanetest.Start(t, controlplane.Options{Dir: dir, Detached: true})
	after := pids(t, again)
	g.Expect(after["kube-scheduler"]).NotTo(Or(BeZero(), Equal(before["kube-scheduler"])), "what crashed is started")
	delete(before, "kube-scheduler")
	delete(after, "kube-scheduler")
	g.Expect(after).To(Equal(before), "what runs is left alone")
}

func TestAnAddedComponentIsStoppedWithThePlane(t *testing.T) {
	g := NewWithT(t)
	p := controlplanetest.Start(t, controlplane.Options{})
	sleeper := controlplane.Component{Name: "sleeper", Command: []string{"/bin/sleep", "1000"}}
	g.Expect(p.Run(t.Context(), sleeper)).To(Succeed())
	first := pids(t, p)["sleeper"]
	g.Expect(first).NotTo(BeZero())
	g.Expect(p.Run(t.Context(), sleeper)).To(Succeed())
	g.Expect(pids(t, p)["sleeper"]).To(Equal(first), "it runs as described already")
	sleeper.Command = []string{"/bin/sleep", "2000"}
	g.Expect(p.Run(t.Context(), sleeper)).To(Succeed())
	second := pids(t, p)["sleeper"]
	g.Expect(second).NotTo(Equal(first), "it is described otherwise")
	broken := controlplane.Component{Name: "broken", Command: []string{"/bin/sh", "-c", "echo help; exit 3"}, HealthURL: "http://127.0.0.1:1/"}
	g.Expect(p.Run(t.Context(), broken)).To(MatchError(And(ContainSubstring("broken exited (exit status 3)"), ContainSubstring("help"))))
	g.Expect(p.Stop()).To(Succeed())
	g.Expect(exists(second)).To(BeFalse())
}
