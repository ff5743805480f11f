package observer

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestBodiesTellWhetherAWriteIsGuarded(t *testing.T) {
	for name, c := range map[string]struct {
		verb, request, response string
		want                    body
		reason                  string
	}{
		"delete with UID": {"delete", `{"kind":"DeleteOptions","preconditions":{"uid":"u"}}`, `{"kind":"Status","details":{"uid":"u"}}`,
			body{known: true, guarded: true, uid: "u"}, "the answer is a Status"},
		"delete without": {"delete", `{"kind":"DeleteOptions"}`, `{"metadata":{"uid":"v","resourceVersion":"7"}}`,
			body{known: true, uid: "v", rv: 7}, "the answer is the terminating object"},
		"delete with version": {"delete", `{"preconditions":{"resourceVersion":"1"}}`, ``,
			body{known: true}, "a version alone may be that of another object"},
		"apply with UID": {"patch", `{"metadata":{"uid":"u","labels":{"truss.dev/owner":"o"},"annotations":{"truss.dev/adopt":"true"}}}`, ``,
			body{known: true, guarded: true, uid: "u", owner: "o", adopts: true}, "all is said"},
		"merge patch that removes": {"patch", `{"metadata":{"resourceVersion":"3","labels":{"truss.dev/owner":null}}}`, ``,
			body{known: true, guarded: true}, "null is a value of a merge patch"},
		"apply without": {"patch", `{"metadata":{"name":"n","annotations":{"truss.dev/adopt":"no"}}}`, ``,
			body{known: true}, "adoption is true or delete"},
		"JSON patch with UID": {"patch", `[{"op":"test","path":"/metadata/uid","value":"u"}]`, ``,
			body{known: true, guarded: true, uid: "u"}, "tested"},
		"JSON patch that sets a UID": {"patch", `[{"op":"add","path":"/metadata/uid","value":"u"}]`, ``,
			body{known: true}, "not tested"},
		"JSON patch with version": {"patch", `[{"op":"replace","path":"/metadata/resourceVersion","value":"3"}]`, ``,
			body{known: true, guarded: true}, "the API server compares it"},
		"JSON patch without version": {"patch", `[{"op":"remove","path":"/metadata/resourceVersion"}]`, ``,
			body{known: true}, "nothing left to compare"},
		"not logged": {"patch", ``, ``, body{}, "the policy hides it"},
		"garbage":    {"patch", `"x"`, `"y"`, body{}, "a patch that is no patch fails anyway"},
	} {
		t.Run(name, func(t *testing.T) {
			got := readBody(c.verb, []byte(c.request), []byte(c.response))
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(body{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// line is an audit event of a user.
func line(user, verb, name string) string {
	return fmt.Sprintf(`{"stage":"ResponseComplete","verb":%q,"user":{"username":%q},"requestURI":"/x?dryRun=&fieldManager=m",`+
		`"objectRef":{"resource":"configmaps","namespace":"ns","name":%q},"responseStatus":{"code":201}}`+"\n", verb, user, name)
}

func TestTheLogIsReadInWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l := &auditLog{path: path, users: map[string]bool{"truss": true}}
	var got []string
	read := func() error {
		return l.read(func(r *Request) { got = append(got, fmt.Sprintf("%d %s", r.Seq, r.Name)) })
	}
	if read() == nil {
		t.Error("a log that is not there must be an error")
	}
	whole := line("truss", "create", "a") + line("nobody", "get", "b") + line("nobody", "delete", "c") + line("truss", "get", "d")
	for n := range len(whole) + 1 { // a byte at a time
		if err := os.WriteFile(path, []byte(whole[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := read(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"1 a", "3 c", "4 d"}, got); diff != "" {
		t.Errorf("lines, without others' reads (-want +got):\n%s", diff)
	}
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	if read() == nil {
		t.Error("a rotated log must be an error: lines are lost")
	}
	if err := os.WriteFile(path, []byte(whole+"{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if read() == nil {
		t.Error("a line that cannot be read must be an error")
	}
}

func at(seconds float64) time.Time {
	return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

// TestObjectsFindTheirMakers: without bodies a creation is found by its time.
func TestObjectsFindTheirMakers(t *testing.T) {
	k := key{resource: "secrets", namespace: "ns", name: "s"}
	create := func(user string, code int, from, to float64) *Request {
		return &Request{User: user, own: user == "truss", Verb: verbCreate, Resource: "secrets", Namespace: "ns", Name: "s", Code: code, Received: at(from), Completed: at(to)}
	}
	for name, c := range map[string]struct {
		requests []*Request
		created  []float64
		want     []string
		reason   string
	}{
		"in order":     {[]*Request{create("truss", 201, 0.1, 0.2), create("admin", 201, 0.8, 0.9)}, []float64{0, 0}, []string{"truss", "admin"}, "both in one second"},
		"unseen":       {[]*Request{create("truss", 201, 0.1, 0.2), create("admin", 201, 5.8, 5.9)}, []float64{5}, []string{"admin"}, "the first one was gone before the watch began"},
		"refused":      {[]*Request{create("truss", 409, 0.1, 0.2)}, []float64{0}, []string{""}, "a conflict makes nothing"},
		"lost answer":  {[]*Request{create("truss", 504, 0.1, 60)}, []float64{0}, []string{"truss"}, "it timed out and took effect"},
		"others' loss": {[]*Request{create("admin", 504, 0.1, 60)}, []float64{0}, []string{""}, "not certain enough to blame Truss"},
		"too late":     {[]*Request{create("truss", 201, 0.1, 0.2)}, []float64{1}, []string{""}, "made after the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory()
			h.requests = c.requests
			for i, created := range c.created {
				h.lives[k] = append(h.lives[k], &life{key: k, uid: types.UID(fmt.Sprint(i)), created: at(created)})
			}
			j := newJudge(h, &Options{}, 10)
			var got []string
			for _, l := range h.lives[k] {
				user := ""
				if maker := j.makers[l]; maker != nil {
					user = maker.User
				}
				got = append(got, user)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestDeletionsOfManyExplainANewObject(t *testing.T) {
	made := &Request{Verb: verbCreate, Resource: "clouds", Group: "g", Namespace: "ns", Name: "c"}
	for name, c := range map[string]struct {
		r    Request
		want bool
	}{
		"its collection":           {Request{Verb: verbDeleteCollection, Group: "g", Resource: "clouds", Namespace: "ns"}, true},
		"collection everywhere":    {Request{Verb: verbDeleteCollection, Group: "g", Resource: "clouds"}, true},
		"another collection":       {Request{Verb: verbDeleteCollection, Group: "h", Resource: "clouds", Namespace: "ns"}, false},
		"collection elsewhere":     {Request{Verb: verbDeleteCollection, Group: "g", Resource: "clouds", Namespace: "other"}, false},
		"its namespace":            {Request{Verb: verbDelete, Resource: "namespaces", Name: "ns"}, true},
		"another namespace":        {Request{Verb: verbDelete, Resource: "namespaces", Name: "other"}, false},
		"its CRD":                  {Request{Verb: verbDelete, Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: "clouds.g"}, true},
		"another CRD":              {Request{Verb: verbDelete, Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: "clouds.h"}, false},
		"all CRDs as a collection": {Request{Verb: verbDeleteCollection, Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.r.sweeps(made); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestVersionsKeepTheirOrder(t *testing.T) {
	l := &life{}
	for _, rv := range []uint64{5, 9, 7, 9} {
		l.insert(version{rv: rv, terminating: rv == 9})
	}
	var got []uint64
	for _, v := range l.versions {
		got = append(got, v.rv)
	}
	if diff := cmp.Diff([]uint64{5, 7, 9, 9}, got); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	if l.born() != 5 || l.before(9).rv != 7 || l.before(5) != nil || l.ending() != 9 {
		t.Errorf("born %d, before 9 %v, before 5 %v, ending %d", l.born(), l.before(9), l.before(5), l.ending())
	}
	if !l.at(6) || l.at(5) {
		t.Error("it is there after 5 and not before")
	}
}
