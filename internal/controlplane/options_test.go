package controlplane

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// tree makes files with content below a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const rootModule = "module github.com/truss-dev/truss\n"

func TestModuleRootPassesLeafModules(t *testing.T) {
	root := tree(t, map[string]string{
		"truss/go.mod":              rootModule,
		"truss/deploy/local/go.mod": "module github.com/truss-dev/truss/deploy/local\n",
		"other/go.mod":              "module example.org/other\n",
		"truss/graph/doc.go":        "",
	})
	for name, c := range map[string]struct{ from, want, reason string }{
		"at the root":      {"truss", "truss", "the root is found from itself"},
		"in a package":     {"truss/graph", "truss", "go test runs there"},
		"in a leaf module": {"truss/deploy/local", "truss", "the binaries belong to the repository"},
		"elsewhere":        {"other", "", "another module's bin/local is none of ours"},
	} {
		want := ""
		if c.want != "" {
			want = filepath.Join(root, c.want)
		}
		if got := moduleRoot(filepath.Join(root, c.from)); got != want {
			t.Errorf("%s: got %q, want %q: %s", name, got, want, c.reason)
		}
	}
}

func TestBinariesAreFoundOrTheRemedyIsNamed(t *testing.T) {
	complete := map[string]string{"go.mod": rootModule}
	for _, f := range []string{etcd, apiServer, controllerManager, scheduler, kwok, stageCRDFile} {
		complete["bin/local/"+f] = ""
	}
	whole := tree(t, complete)
	delete(complete, "bin/local/"+kwok)
	partial := tree(t, complete)
	for name, c := range map[string]struct {
		wd, env, want string
		reason        string
	}{
		"in the repository":  {whole, "", filepath.Join(whole, "bin", "local"), "make local puts them there"},
		"one missing":        {partial, "", "", "a build that was cut short is no build"},
		"by the environment": {partial, filepath.Join(whole, "bin", "local"), filepath.Join(whole, "bin", "local"), "it wins"},
		"wrong environment":  {whole, t.TempDir(), "", "what was asked for is not replaced in silence"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(c.wd)
			t.Setenv(BinariesEnv, c.env)
			got, err := FindBinaries()
			if c.want == "" {
				if !errors.Is(err, ErrNoBinaries) {
					t.Errorf("got %q and %v: %s", got, err, c.reason)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %q and %v, want %q: %s", got, err, c.want, c.reason)
			}
		})
	}
}
