package deploy

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed crds/*.yaml
var crds embed.FS

// CRDs returns the YAML of every custom resource definition that Truss
// serves, one document each, sorted by file name.
func CRDs() ([][]byte, error) {
	names, err := fs.Glob(crds, "crds/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot list embedded CRDs: %w", err)
	}
	out := make([][]byte, 0, len(names))
	for _, name := range names {
		data, err := crds.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read embedded CRD %q: %w", name, err)
		}
		out = append(out, data)
	}
	return out, nil
}
