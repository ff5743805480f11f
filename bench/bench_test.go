package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/truss-dev/truss/bench/raw"
	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
	"github.com/truss-dev/truss/bench/shape"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/controlplane"
	"github.com/truss-dev/truss/internal/controlplane/controlplanetest"
)

// The rig starts this test binary as its manager.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == managerCommand {
		os.Exit(start(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// newTestSuite is a suite of the smallest size on a rig of its own.
func newTestSuite(t *testing.T) *suite {
	t.Helper()
	o := options{quick: true, pairs: 1, run: regexp.MustCompile("")}
	command, err := managerOf(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rig.Start(t.Context(), rig.Options{Dir: t.TempDir(), Manager: command})
	if errors.Is(err, controlplane.ErrNoBinaries) {
		controlplanetest.Need(t, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := r.StartManager(t.Context()); err != nil {
		t.Fatal(err)
	}
	return newSuite(r, o, io.Discard)
}

func TestMeasuresOfTenNodesGiveResults(t *testing.T) {
	s := newTestSuite(t)
	t.Run("wide", func(t *testing.T) {
		rows, err := s.ready(t.Context(), "wide 10", shape.Wide(10, 1), []int{2, 3}, 1e9)
		check(t, rows, err, map[string]float64{"wide 10": -1})
	})
	t.Run("requests", func(t *testing.T) {
		rows, err := s.requests(t.Context(), 10)
		check(t, rows, err, map[string]float64{
			"requests per child: create": 1, "requests per child: first change": 2,
			"requests per child: later change": 1, "requests per child: teardown": 2, "owner writes to Ready, 10 nodes": -1,
		})
	})
	t.Run("restart", func(t *testing.T) {
		rows, err := s.settled(t.Context(), 10, calmWindow)
		check(t, rows, err, map[string]float64{
			"settled 10: writes in 300ms": 0, "settled 10: reads in 300ms": 0, "settled 10: writes after 1 restarts": 0,
			"settled 10: restart to settled": -1,
		})
	})
	t.Run("baseline", func(t *testing.T) { compareWhatIsLeft(t, s) })
}

// calmWindow is long enough for a request that should not be there to show.
const calmWindow = 300e6

// check compares rows with the results that they must have; -1 stands for any
// that is positive.
func check(t *testing.T, rows []report.Row, err error, want map[string]float64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, r := range rows {
		got[r.Measure] = r.Result
		if want[r.Measure] == -1 && r.Result > 0 {
			got[r.Measure] = -1
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// What the API server holds after a run of each, but for identifiers and
// times, is the same: so were the requests.
func compareWhatIsLeft(t *testing.T, s *suite) {
	t.Helper()
	client, err := dynamic.NewForConfig(s.rig.Plane.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	b := shape.Chain(10)
	truss, base := submit(t, s, v1.BundleGVR, b, false), submit(t, s, rig.TwinGVR, b, true)
	for gvr, n := range map[schema.GroupVersionResource]int{{Version: "v1", Resource: "configmaps"}: 10, inventory.GVR: 1} {
		got, want := left(t, client, gvr, base), left(t, client, gvr, truss)
		if diff := cmp.Diff(want, got); diff != "" || len(got) != n {
			t.Errorf("%d %s, want %d (-truss +baseline):\n%s", len(got), gvr.Resource, n, diff)
		}
	}
	if len(rig.TwinGroup) != len(v1.Group) {
		t.Errorf("group %q is not as long as %q", rig.TwinGroup, v1.Group)
	}
	if diff := cmp.Diff(ownerOf(t, client, truss), ownerOf(t, client, base)); diff != "" {
		t.Errorf("owners (-truss +baseline):\n%s", diff)
	}
}

// submit runs b by Truss or by the baseline until it is Ready.
func submit(t *testing.T, s *suite, gvr schema.GroupVersionResource, b *v1.Bundle, baseline bool) rig.Owner {
	t.Helper()
	ctx := t.Context()
	namespace, err := s.rig.Namespace(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPairing(ctx, s, b)
	if err != nil {
		t.Fatal(err)
	}
	body := p.body
	if baseline {
		body = p.twin
	}
	watch, err := s.rig.Watch(ctx, gvr, namespace, "")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	owner, err := s.rig.Submit(ctx, gvr, namespace, body)
	if err != nil {
		t.Fatal(err)
	}
	if baseline {
		send(t, p, owner)
	}
	if _, err := watch.Until(ctx, "Ready", (*rig.Seen).Ready); err != nil {
		t.Fatal(err)
	}
	return owner
}

func send(t *testing.T, p *pairing, o rig.Owner) {
	t.Helper()
	connections, err := raw.Connect(t.Context(), p.config, 2, rig.Apart)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := raw.Prepare(t.Context(), p.bundle, o.GVR.GroupVersion().WithKind(v1.BundleKind), o.Namespace, p.s.key)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Run(t.Context(), connections, o.UID); err != nil {
		t.Fatal(err)
	}
}

func ownerOf(t *testing.T, client dynamic.Interface, o rig.Owner) string {
	t.Helper()
	u, err := client.Resource(o.GVR).Namespace(o.Namespace).Get(t.Context(), o.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return masked(t, u, o)
}

// left gives the objects of an owner as text, in the order of their names.
func left(t *testing.T, client dynamic.Interface, gvr schema.GroupVersionResource, o rig.Owner) []string {
	t.Helper()
	list, err := client.Resource(gvr).Namespace(o.Namespace).
		List(t.Context(), metav1.ListOptions{LabelSelector: resource.OwnerLabel + "=" + string(o.UID)})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range list.Items {
		out = append(out, masked(t, &list.Items[i], o))
	}
	return out
}

var (
	uids      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	versions  = regexp.MustCompile(`"resourceVersion":"\d+"`)
	slots     = regexp.MustCompile(`"truss.dev/slot":"\d+"`)
	macs      = regexp.MustCompile(`(:)[\w-]{24}"`)
	stamps    = regexp.MustCompile(`(applied":"1:)[\w-]{20}:`)
	archives  = regexp.MustCompile(`"gz":"[^"]+"`)
	planNames = regexp.MustCompile(`("name":"bundle-[0-9a-f-]+-)[0-9a-f]{10}"`)
	managers  = regexp.MustCompile(`"truss.dev/manager":"\w{4}"`)
)

// masked is an object without what differs by nature. Masks keep the length
// where it is fixed: a stamp of another length is another size.
func masked(t *testing.T, u *unstructured.Unstructured, o rig.Owner) string {
	t.Helper()
	text, err := json.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte(o.Namespace), []byte("NAMESPACE"))
	for _, group := range []string{v1.Group, rig.TwinGroup} { // finalizers have the first in both
		text = bytes.ReplaceAll(text, []byte(group), []byte("GROUP"))
	}
	for _, m := range []struct {
		what *regexp.Regexp
		by   string
	}{
		{planNames, `${1}PLAN"`}, {uids, "UID"}, {times, "TIME"}, {versions, `"resourceVersion":"1"`}, {slots, `"truss.dev/slot":"S"`},
		{stamps, "${1}HASH:"}, {macs, `${1}MAC"`}, {archives, `"gz":"GZ"`}, {managers, `"truss.dev/manager":"M"`},
	} {
		text = m.what.ReplaceAll(text, []byte(m.by))
	}
	return string(text)
}

func TestFlagsAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		pairs  int
		fails  bool
		reason string
	}{
		"full":     {nil, 7, false, "medians of at least seven pairs"},
		"quick":    {[]string{"-quick"}, 3, false, "under three minutes"},
		"pairs":    {[]string{"-quick", "-pairs", "9"}, 9, false, "what is said counts"},
		"negative": {[]string{"-pairs", "-1"}, 0, true, "no such number of pairs"},
		"argument": {[]string{"wide"}, 0, true, "a forgotten -run must not measure everything"},
		"regexp":   {[]string{"-run", "("}, 0, true, "it matches nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(c.args, io.Discard)
			if (err != nil) != c.fails || err == nil && o.pairs != c.pairs {
				t.Errorf("parse(%q) = %d pairs, %v: %s", c.args, o.pairs, err, c.reason)
			}
		})
	}
}

func TestMeasuresAreChosenByModeAndName(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		want   []string
		reason string
	}{
		"quick": {[]string{"-quick"}, []string{"requests", "chain-100", "wide-1000", "settled-1000"}, "what fits into three minutes"},
		"full":  {nil, []string{"requests", "chain-200", "wide-1000", "wide-5000", "settled-5000", "touch-5000"}, "all at full size"},
		"named": {[]string{"-run", "wide|touch"}, []string{"wide-1000", "wide-5000", "touch-5000"}, "a part of it"},
		"other": {[]string{"-quick", "-run", "touch"}, nil, "quick mode has none"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(c.args, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range chosen(o) {
				got = append(got, m.name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestARunThatMatchesNothingFails(t *testing.T) {
	var stderr strings.Builder
	if code := start(t.Context(), []string{"-run", "wiide"}, io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), "-run") {
		t.Errorf("exit code %d, %q: a misspelt -run must not pass", code, stderr.String())
	}
}
