package manager

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	for _, c := range []struct {
		reason string
		o      Options
		want   string
	}{
		{"a negative limit means nothing", Options{Writes: -1}, "--max-writes"},
		{"a lease that short is lost at once", Options{LeaderElect: true, LeaseDuration: time.Millisecond}, "--leader-elect-lease-duration"},
		{"there are 64 slots", Options{Slots: "60-70"}, "60-70"},
		{"the defaults work", Options{LeaderElect: true, LeaseDuration: 15 * time.Second, Slots: "0-31"}, ""},
	} {
		err := c.o.complete()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: complete() = %v, want an error with %q", c.reason, err, c.want)
		}
	}
}

func TestManagersOfDifferentSlotsHaveLeasesOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, slots := range []string{"", "0-31", "32-63", "0,5"} {
		o := Options{Slots: slots}
		if err := o.complete(); err != nil {
			t.Fatal(err)
		}
		names[o.lease()] = true
		if strings.ContainsAny(o.lease(), ",_ ") {
			t.Errorf("lease %q of slots %q is no object name", o.lease(), slots)
		}
	}
	if len(names) != 4 {
		t.Errorf("leases = %v, want four", names)
	}
}

func TestManagersThatStartAtOnceShareOneKey(t *testing.T) {
	g := NewWithT(t)
	client, ns := controlplanetest.Client(t, plane), controlplanetest.Namespace(t, plane)
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := macKey(t.Context(), client, ns)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, k := range keys {
		g.Expect(bytes.Equal(k, keys[0])).To(BeTrue())
	}
	g.Expect(keys[0]).NotTo(Equal(make([]byte, len(keys[0]))), "the key is random")
}

func TestKeyOfTheWrongSizeIsRefused(t *testing.T) {
	g := NewWithT(t)
	client, ns := controlplanetest.Client(t, plane), controlplanetest.Namespace(t, plane)
	_, err := client.CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: keySecret}, Data: map[string][]byte{keyEntry: []byte("short")},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = macKey(t.Context(), client, ns)
	g.Expect(err).To(MatchError(ContainSubstring("must have 32 bytes")))
	g.Expect(err).NotTo(MatchError(ContainSubstring("short")), "no secret value in messages")
}

// With the right to impersonate kube-system's accounts a manager could become
// anybody: an administrator's kubeconfig is refused.
func TestManagerRefusesToRunAsAnAdministrator(t *testing.T) {
	controlplanetest.Need(t, plane)
	err := Run(t.Context(), Options{Config: plane.AdminConfig(), MetricsAddress: "0", HealthAddress: "0", Registry: prometheus.NewRegistry()})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("impersonate the service accounts of kube-system")))
}

// The manager's process as operators see it: ready when its caches are, its
// metrics only for those whom the API server lets read them, and an end
// without error when it is told to stop.
func TestManagerServesHealthAndSecuredMetrics(t *testing.T) {
	g := NewWithT(t)
	controlplanetest.Need(t, plane)
	crds, err := deploy.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plane.Apply(t.Context(), append(crds, deploy.LocalManifests())...)).To(Succeed())
	cfg, err := plane.ServiceAccountConfig(t.Context(), "truss-system", "truss-manager")
	g.Expect(err).NotTo(HaveOccurred())
	health, metrics := freeAddress(t), freeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Config: cfg, Namespace: "truss-system", LeaderElect: true, LeaseDuration: 15 * time.Second,
			HealthAddress: health, MetricsAddress: metrics,
		})
	}()
	code := func(url, token string) func() (int, error) {
		return func() (int, error) { return get(t, url, token) }
	}
	g.Eventually(code("http://"+health+"/readyz", ""), "30s", "50ms").Should(Equal(http.StatusOK))
	g.Expect(code("http://"+health+"/healthz", "")()).To(Equal(http.StatusOK))
	g.Eventually(code("https://"+metrics+"/metrics", ""), "30s", "50ms").Should(Equal(http.StatusUnauthorized), "strangers read nothing")
	g.Expect(code("https://"+metrics+"/metrics", cfg.BearerToken)()).To(Equal(http.StatusForbidden), "an account without the right reads nothing")
	leases := controlplanetest.Client(t, plane).CoordinationV1().Leases("truss-system")
	g.Eventually(func() (string, error) {
		lease, err := leases.Get(t.Context(), leaseName, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return *lease.Spec.HolderIdentity, nil
	}, "30s", "50ms").ShouldNot(BeEmpty(), "the lease is taken")
	stop()
	g.Eventually(ended, "10s").Should(Receive(BeNil()), "told to stop, it ends without error")
	lease, err := leases.Get(t.Context(), leaseName, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*lease.Spec.HolderIdentity).To(BeEmpty(), "the lease is released, so that the next one need not wait")
}

func get(t *testing.T, url, token string) (int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := insecure().Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, nil
}

// freeAddress is an address nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return fmt.Sprint(l.Addr())
}

// insecure trusts the certificate that the metrics server made for itself.
func insecure() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // self-signed, on loopback
		DisableKeepAlives: true,
	}}
}
