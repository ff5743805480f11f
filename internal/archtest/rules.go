package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// FileCeiling is the number of lines that no hand-written file may exceed.
// Files aim at 200.
const FileCeiling = 500

// domains are the folders that compile one family of owners each.
var domains = []string{"bundle", "templatestack", "packagemanager", "classes"}

// Rules returns the rules of the architecture, in the order of its document.
func Rules() []Rule {
	return slices.Concat(layerRules(), clientRules(), sourceRules())
}

// layerRules say which package may know of which.
func layerRules() []Rule {
	return []Rule{{
		Name:   "graph-is-pure",
		Reason: "the graph knows nothing of Kubernetes: the standard library and gonum's interfaces are all it needs",
		Find: depends(func(rel string, d Dep) bool {
			return rel == "graph" && !d.Standard && !strings.HasPrefix(d.Path, "gonum.org/v1/gonum/") && d.Path != Module+"/graph"
		}),
	}, {
		Name:   "readiness-does-no-io",
		Reason: "readiness rules are pure functions over objects, so that a judgement can be repeated anywhere",
		Find: depends(func(rel string, d Dep) bool {
			return under(rel, "readiness") && writesOrReads(d.Path)
		}),
	}, {
		Name:   "readiness-opens-no-connection",
		Reason: "readiness rules are pure functions over objects, so that a judgement can be repeated anywhere",
		Find: imports(func(rel string, _ File, imported string) bool {
			return under(rel, "readiness") && slices.Contains([]string{"net", "net/http", "os", "os/exec"}, imported)
		}),
	}, {
		Name:   "domains-are-apart",
		Reason: "a domain never imports another domain's compiler: what two of them share is an API type or belongs below both",
		Find: imports(func(rel string, _ File, imported string) bool {
			own, other := domainOf(rel), ""
			if r, ok := local(imported); ok && !apiTypes(r) {
				other = domainOf(r)
			}
			return own != "" && other != "" && own != other
		}),
	}, {
		Name:   "nothing-imports-cmd",
		Reason: "cmd is wiring only; what others need belongs in a package",
		Find: imports(func(rel string, _ File, imported string) bool {
			r, ok := local(imported)
			return ok && under(r, "cmd") && !under(rel, "cmd")
		}),
	}, {
		Name:   "core-knows-no-owner",
		Reason: "four compilers, one graph, one executor: a new kind of owner is a new compiler and nothing else",
		Find: imports(func(rel string, _ File, imported string) bool {
			r, ok := local(imported)
			return ok && under(rel, "graph", "readiness") && domainOf(r) != ""
		}),
	}}
}

// clientRules say who may talk to the API server.
func clientRules() []Rule {
	return []Rule{{
		Name:   "few-may-write",
		Reason: "only graph/executor writes children and only a domain's reconciler writes its owner; a compiler that holds a client will use it",
		Find: imports(func(rel string, f File, imported string) bool {
			return writeClient(imported) && !mayWrite(rel, f)
		}),
	}, {
		Name:   "tests-stay-in-tests",
		Reason: "a test library in the binary is weight and a way to panic; test support lives in packages named ...test",
		Find: imports(func(rel string, _ File, imported string) bool {
			return !strings.HasSuffix(rel, "test") && (imported == "testing" || strings.HasPrefix(imported, "github.com/onsi/"))
		}),
	}}
}

// sourceRules are about the text of a package.
func sourceRules() []Rule {
	return []Rule{{
		Name:   "packages-are-documented",
		Reason: "a reader starts at the package comment: its place in the data flow is said there",
		Find: func(p Package) []string {
			if slices.ContainsFunc(p.Files, func(f File) bool { return f.Doc && !f.test() }) || onlyTests(p) {
				return nil
			}
			return []string{"has no package doc comment"}
		},
	}, {
		Name:   "files-are-short",
		Reason: fmt.Sprintf("a file is one idea: it aims at 200 lines and ends before %d", FileCeiling),
		Find: func(p Package) []string {
			var found []string
			for _, f := range p.Files {
				if !f.Generated && f.Lines > FileCeiling {
					found = append(found, fmt.Sprintf("%s has %d lines", f.Name, f.Lines))
				}
			}
			return found
		},
	}}
}

func onlyTests(p Package) bool {
	return !slices.ContainsFunc(p.Files, func(f File) bool { return !f.test() })
}

// domainOf returns the domain whose folder holds rel, or "".
func domainOf(rel string) string {
	top, _, _ := strings.Cut(rel, "/")
	if slices.Contains(domains, top) {
		return top
	}
	return ""
}

// apiTypes says whether rel holds the Go types of served kinds, which other
// domains may import.
func apiTypes(rel string) bool {
	return under(rel, "bundle/v1", "packagemanager/api")
}

// writesOrReads says whether a package talks to an API server or anything
// else outside the process on behalf of its importer.
func writesOrReads(path string) bool {
	return writeClient(path) || hasPrefix(path, "k8s.io/client-go/rest", "k8s.io/client-go/discovery", "k8s.io/client-go/tools")
}

// writeClient says whether a package offers requests that change a cluster.
// The scheme, the logger and the metrics registry lie among such packages
// without being one.
func writeClient(path string) bool {
	if hasPrefix(path, "k8s.io/client-go/kubernetes/scheme", "sigs.k8s.io/controller-runtime/pkg/log",
		"sigs.k8s.io/controller-runtime/pkg/metrics", "sigs.k8s.io/controller-runtime/pkg/scheme") {
		return false
	}
	return hasPrefix(path, "k8s.io/client-go/dynamic", "k8s.io/client-go/kubernetes", "k8s.io/client-go/metadata",
		"sigs.k8s.io/controller-runtime")
}

func hasPrefix(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool {
		return path == r || strings.HasPrefix(path, r+"/")
	})
}

// mayWrite says whether a file may import a client that writes: the executor,
// a domain's reconciler (by the name of its file or package), the programs,
// and the plumbing that starts and watches clusters.
func mayWrite(rel string, f File) bool {
	if under(rel, "graph/executor", "packagemanager/rbac", "cmd", "bench",
		"internal/manager", "internal/reconciler", "internal/manager", "internal/controlplane", "internal/local", "internal/observer", "internal/demo") {
		return true
	}
	if domainOf(rel) == "" {
		return false
	}
	for _, name := range []string{f.Name, path.Base(rel)} {
		if strings.HasPrefix(name, "reconcile") || strings.HasPrefix(name, "controller") || strings.HasPrefix(name, "setup") {
			return true
		}
	}
	return false
}
