package controlplane_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

func TestProcessesDieWithAStarterThatIsKilled(t *testing.T) {
	controlplanetest.Need(t, plane)
	g := NewWithT(t)
	dir := t.TempDir()
	starter := started(t, dir)
	p, err := controlplane.Open(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pids(t, p)).To(HaveLen(5))
	g.Expect(starter.Process.Kill()).To(Succeed())
	_ = starter.Wait()
	g.Eventually(func() map[string]int { return pids(t, p) }, patience).Should(BeEmpty())
}
