package archtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake is a documented package with one file that imports the given paths.
func fake(rel, file string, imports ...string) Package {
	return Package{Path: Module + "/" + rel, Files: []File{
		{Name: "doc.go", Doc: true, Lines: 10},
		{Name: file, Imports: imports, Lines: 100},
	}}
}

// needing is a documented package with the given dependencies.
func needing(rel string, deps ...Dep) Package {
	p := fake(rel, "a.go")
	p.Deps = deps
	return p
}

func TestRulesFindWhatTheyForbid(t *testing.T) {
	const dynamic, runtime = "k8s.io/client-go/dynamic", "sigs.k8s.io/controller-runtime/pkg/client"
	cases := map[string]struct {
		reason string
		pkg    Package
		want   []string
	}{
		"graph with gonum": {
			reason: "gonum's interfaces and encoders are the graph's one dependency",
			pkg:    needing("graph", Dep{Path: "sort", Standard: true}, Dep{Path: "gonum.org/v1/gonum/graph/path"}),
		},
		"graph with apimachinery": {
			reason: "the graph knows nothing of Kubernetes, not even through another package",
			pkg:    needing("graph", Dep{Path: "k8s.io/apimachinery/pkg/types"}),
			want:   []string{"graph-is-pure"},
		},
		"graph/resource with apimachinery": {
			reason: "what a node holds is about Kubernetes; only the graph itself is not",
			pkg:    needing("graph/resource", Dep{Path: "k8s.io/apimachinery/pkg/types"}),
		},
		"readiness with jsonpath": {
			reason: "client-go's jsonpath evaluates Smith's annotations and does no I/O",
			pkg:    needing("readiness", Dep{Path: "k8s.io/client-go/util/jsonpath"}),
		},
		"readiness that drags in a client": {
			reason: "a client anywhere in the closure is a client",
			pkg:    needing("readiness", Dep{Path: dynamic}, Dep{Path: "k8s.io/client-go/rest"}),
			want:   []string{"readiness-does-no-io", "readiness-does-no-io"},
		},
		"readiness over HTTP": {
			reason: "the standard library can do I/O too",
			pkg:    fake("readiness/smith", "a.go", "net/http"),
			want:   []string{"readiness-opens-no-connection"},
		},
		"readiness's own tests": {
			reason: "tests read their test data",
			pkg:    fake("readiness", "a_test.go", "os"),
		},
		"classes with the Bundle compiler": {
			reason: "domains share API types, not compilers",
			pkg:    fake("classes", "a.go", Module+"/bundle"),
			want:   []string{"domains-are-apart"},
		},
		"a part of a domain with a part of another": {
			reason: "the rule holds below the folders too",
			pkg:    fake("templatestack/engine", "a.go", Module+"/packagemanager/oci"),
			want:   []string{"domains-are-apart"},
		},
		"template stacks with the Stack type": {
			reason: "the Stack's Go type is served by packagemanager/api",
			pkg:    fake("templatestack", "a.go", Module+"/packagemanager/api/stacks/v1alpha1", Module+"/bundle/v1"),
		},
		"bundle with its own parts": {
			reason: "a domain is free within itself",
			pkg:    fake("bundle", "a.go", Module+"/bundle/status"),
		},
		"a package that imports a program": {
			reason: "what others need does not live in a main package's folder",
			pkg:    fake("internal/local", "a.go", Module+"/cmd/truss/flags"),
			want:   []string{"nothing-imports-cmd"},
		},
		"executor with a domain": {
			reason: "the executor serves every owner alike",
			pkg:    fake("graph/executor", "a.go", Module+"/bundle/v1"),
			want:   []string{"core-knows-no-owner"},
		},
		"executor with a client": {
			reason: "the executor is the one writer of children",
			pkg:    fake("graph/executor/writer", "a.go", dynamic),
		},
		"compiler with a client": {
			reason: "compilers never write",
			pkg:    fake("bundle", "compile.go", dynamic),
			want:   []string{"few-may-write"},
		},
		"compiler with controller-runtime": {
			reason: "its client writes as well",
			pkg:    fake("classes", "select.go", runtime),
			want:   []string{"few-may-write"},
		},
		"a domain's reconciler with a client": {
			reason: "each domain's reconciler writes its own owner's status",
			pkg:    fake("bundle", "reconciler.go", runtime),
		},
		"a domain's reconciler package with a client": {
			reason: "a reconciler may be a package of its own",
			pkg:    fake("bundle/controller", "owner.go", runtime),
		},
		"a reconciler outside the domains": {
			reason: "the name alone opens no door",
			pkg:    fake("internal/web", "reconciler.go", runtime),
			want:   []string{"few-may-write"},
		},
		"the scheme and the logger": {
			reason: "they lie beside clients and are none",
			pkg:    fake("internal/web", "a.go", "k8s.io/client-go/kubernetes/scheme", "sigs.k8s.io/controller-runtime/pkg/log"),
		},
		"gomega in the program": {
			reason: "test libraries stay out of the binary",
			pkg:    fake("internal/web", "a.go", "github.com/onsi/gomega", "testing"),
			want:   []string{"tests-stay-in-tests", "tests-stay-in-tests"},
		},
		"test support": {
			reason: "packages named ...test are for tests",
			pkg:    fake("internal/controlplane/controlplanetest", "a.go", "testing", dynamic),
		},
		"no package comment": {
			reason: "a comment on a test file is not the package's",
			pkg: Package{Path: Module + "/internal/web", Files: []File{
				{Name: "a.go"}, {Name: "a_test.go", Doc: true},
			}},
			want: []string{"packages-are-documented"},
		},
		"a package of tests only": {
			reason: "nobody can import it",
			pkg:    Package{Path: Module + "/e2e", Files: []File{{Name: "a_test.go"}}},
		},
		"long files": {
			reason: "the ceiling holds for tests and not for generated code",
			pkg: Package{Path: Module + "/bundle/v1", Files: []File{
				{Name: "a.go", Doc: true, Lines: FileCeiling},
				{Name: "b_test.go", Lines: FileCeiling + 1},
				{Name: "zz_generated.deepcopy.go", Lines: 4000, Generated: true},
			}},
			want: []string{"files-are-short"},
		},
		"another module": {
			reason: "the rules are about this module",
			pkg:    Package{Path: "example.org/bundle", Files: []File{{Name: "a.go", Doc: true, Imports: []string{dynamic}}}},
		},
	}
	fired := map[string]bool{}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range Check([]Package{tc.pkg}, Rules()) {
				got = append(got, v.Rule)
				fired[v.Rule] = true
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nrules broken (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	for _, r := range Rules() {
		if !fired[r.Name] {
			t.Errorf("no case breaks rule %s: it is not proven able to fail", r.Name)
		}
	}
}

func TestViolationsReadAsSentencesInAStableOrder(t *testing.T) {
	rule := Rule{Name: "r", Reason: "why", Find: func(p Package) []string { return []string{"has b", "has a"} }}
	var got []string
	for _, v := range Check([]Package{{Path: "m/y"}, {Path: "m/x"}}, []Rule{rule}) {
		got = append(got, v.String())
	}
	want := []string{"r: m/x: has a (why)", "r: m/x: has b (why)", "r: m/y: has a (why)", "r: m/y: has b (why)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}
