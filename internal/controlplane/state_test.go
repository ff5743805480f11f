package controlplane

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStateOfAnotherFormatIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ content, want, reason string }{
		"ours":        {`{"format":1}`, "", "it is what write writes"},
		"newer":       {`{"format":2}`, "format 2", "guessing at pids could kill a stranger"},
		"not a state": {`{}`, "format 0", "another program's state.json is none of ours"},
		"broken":      {`{`, "cannot parse", "it is said, not overwritten"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := readState(path)
			if got := message(err); (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q: %s", got, c.want, c.reason)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestStateIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	want := &state{
		Format: stateFormat, BinDir: "/b", Nodes: 2, Detached: true,
		Ports:     ports{Etcd: 1, EtcdPeer: 2, APIServer: 3, ControllerManager: 4, Scheduler: 5},
		Added:     []Component{{Name: "manager", Command: []string{"/truss", "manager"}, HealthURL: "http://127.0.0.1:1/readyz"}},
		Processes: map[string]record{etcd: {PID: 7, Birth: "8", StartedAt: time.Unix(9, 0).UTC()}},
	}
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readState(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Component{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFreePortsAreKeptAndTakenOnesReplaced(t *testing.T) {
	first, err := choosePorts(ports{})
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first.Scheduler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	second, err := choosePorts(first)
	if err != nil {
		t.Fatal(err)
	}
	if second.Scheduler == first.Scheduler {
		t.Errorf("port %d is in use and was chosen", first.Scheduler)
	}
	second.Scheduler = first.Scheduler
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the other ports are free and should be kept (-first +second):\n%s", diff)
	}
}

func TestAProcessIsNotTakenForALaterOneWithItsPID(t *testing.T) {
	b, ok := birth(os.Getpid())
	if !ok || b == "" {
		t.Fatal("this test runs")
	}
	for name, c := range map[string]struct {
		record record
		want   bool
		reason string
	}{
		"the process":    {record{PID: os.Getpid(), Birth: b}, true, "pid and birth agree"},
		"a later one":    {record{PID: os.Getpid(), Birth: b + "0"}, false, "stopping it would kill a stranger"},
		"never recorded": {record{}, false, "pid 0 is every process of the group to kill(2)"},
	} {
		if got := (&process{record: c.record}).alive(); got != c.want {
			t.Errorf("%s: alive is %t: %s", name, got, c.reason)
		}
	}
}

func TestLastLinesEndALogOfAnySize(t *testing.T) {
	long := strings.Repeat("x", 20<<10) + "\n"
	for name, c := range map[string]struct {
		content string
		want    []string
		reason  string
	}{
		"empty":      {"", nil, "there is nothing to quote"},
		"few":        {"a\nb\n", []string{"a", "b"}, "all are quoted"},
		"many":       {"a\nb\nc\nd", []string{"b", "c", "d"}, "the last, in order"},
		"after much": {long + "b\nc\nd\n", []string{"b", "c", "d"}, "what came long before is not read"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lastLines(path, 3)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if got := lastLines(filepath.Join(t.TempDir(), "none"), 3); got != nil {
		t.Errorf("got %q of a log that is not there", got)
	}
}
