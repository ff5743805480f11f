package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
	"github.com/truss-dev/truss/internal/local"
)

// managerEnv makes the test binary a manager.
const managerEnv = "TRUSS_TEST_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(managerEnv) != "" {
		fmt.Println(manage(os.Args[1:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// manage says who it is and then that it is ready.
func manage(args []string) error {
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	health := flags.String("health", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	who, err := client.AuthenticationV1().SelfSubjectReviews().
		Create(context.Background(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Println("I am", who.Status.UserInfo.Username)
	http.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	return http.ListenAndServe(*health, nil)
}

const manifests = `
apiVersion: v1
kind: Namespace
metadata: {name: truss-system}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: truss-manager, namespace: truss-system}
`

// run runs `truss local` and gives what it writes.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := local.NewCommand(
		local.WithManifests(func() ([][]byte, error) { return [][]byte{[]byte(manifests)}, nil }),
		local.WithManager(local.Manager{
			Name: "manager", Namespace: "truss-system", ServiceAccount: "truss-manager",
			Args: func(l local.Launch) []string {
				return []string{"--kubeconfig=" + l.Kubeconfig, "--health=" + l.HealthAddress}
			},
		}),
	)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	var out, errs bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), errs.String(), err
}

// statuses are those that `status -o json` prints, by name.
func statuses(t *testing.T, dir string) map[string]controlplane.Status {
	t.Helper()
	out, _, _ := run(t, "status", "--dir", dir, "-o", "json")
	var report struct{ Components []controlplane.Status }
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	byName := map[string]controlplane.Status{}
	for _, s := range report.Components {
		byName[s.Name] = s
	}
	return byName
}

func needBinaries(t *testing.T) {
	t.Helper()
	if _, err := controlplane.FindBinaries(); err != nil {
		controlplanetest.Need(t, nil)
	}
}

// The steps depend on each other: they are one person's session.
func TestAnAfternoonWithALocalControlPlane(t *testing.T) {
	needBinaries(t)
	t.Setenv(managerEnv, "1")
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "it's here")
	t.Cleanup(func() { _, _, _ = run(t, "down", "--dir", dir) })

	out, progress, err := run(t, "up", "--dir", dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(MatchRegexp(`^export KUBECONFIG='.*/it'\\''s here/kubeconfig'\n$`), "one line, for a shell")
	g.Expect(progress).To(ContainSubstring("waiting for kube-apiserver"))
	log, err := os.ReadFile(filepath.Join(dir, "logs", "manager.log"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(log)).To(ContainSubstring("I am system:serviceaccount:truss-system:truss-manager\n"))

	before := statuses(t, dir)
	again, notes, err := run(t, "up", "--dir", dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(out))
	g.Expect(notes).To(ContainSubstring("running already"))
	g.Expect(statuses(t, dir)).To(BeComparableTo(before), "nothing was restarted")

	crash(t, dir, "manager")
	table, _, err := run(t, "status", "--dir", dir)
	g.Expect(err).To(MatchError("1 of 6 components down: manager"))
	g.Expect(table).To(MatchRegexp(`(?m)^manager +Exited +- +- +.*/logs/manager\.log$`))
	g.Expect(table).To(MatchRegexp(`(?s)manager exited.*; its last lines:\n  I am system:`))
	_, _, err = run(t, "up", "--dir", dir)
	g.Expect(err).NotTo(HaveOccurred(), "up starts what crashed")
	table, _, err = run(t, "status", "--dir", dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(regexp.MustCompile(`(?m) Healthy +\d+ `).FindAllString(table, -1)).To(HaveLen(6))

	_, _, err = run(t, "down", "--dir", dir)
	g.Expect(err).NotTo(HaveOccurred())
	for name, s := range statuses(t, dir) {
		g.Expect(s.State).To(Equal(controlplane.Stopped), name)
	}
	_, _, err = run(t, "down", "--dir", dir, "--purge")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(dir).NotTo(BeADirectory())
}

func crash(t *testing.T, dir, component string) {
	t.Helper()
	p, err := controlplane.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(component); err != nil {
		t.Fatal(err)
	}
}

func TestDownPurgesNothingButAPlane(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	kept := filepath.Join(dir, "thesis.tex")
	g.Expect(os.WriteFile(kept, nil, 0o600)).To(Succeed())
	_, _, err := run(t, "down", "--purge", "--dir", dir)
	g.Expect(err).To(MatchError(controlplane.ErrNoPlane))
	g.Expect(kept).To(BeARegularFile())

	state := filepath.Join(dir, "state.json")
	g.Expect(os.WriteFile(state, []byte(`{"format":1}`), 0o600)).To(Succeed())
	_, _, err = run(t, "down", "--purge", "--dir", dir)
	g.Expect(err).To(MatchError(ContainSubstring("all else is gone")))
	g.Expect(kept).To(BeARegularFile(), "it is not the plane's")
	g.Expect(filepath.Join(dir, "pki")).NotTo(BeADirectory())
	g.Expect(state).NotTo(BeARegularFile())
}

func TestCommandsSayWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		want   string
		reason string
	}{
		"status without a plane": {[]string{"status"}, "no local control plane", "it is down"},
		"unknown format":         {[]string{"status", "-o", "yaml"}, `cannot print as "yaml"`, "a script must not parse a table"},
		"negative nodes":         {[]string{"up", "--nodes=-1"}, "cannot have -1 nodes", "before anything is started"},
		"an argument":            {[]string{"down", "everything"}, `"everything"`, "a typo must not stop the plane"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := run(t, append(c.args, "--dir", t.TempDir())...)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)), c.reason)
		})
	}
}

func TestDownWithoutAPlaneIsHarmless(t *testing.T) {
	g := NewWithT(t)
	out, notes, err := run(t, "down", "--dir", t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(BeEmpty())
	g.Expect(strings.TrimSpace(notes)).To(ContainSubstring("no local control plane"))
}
