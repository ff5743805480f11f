package bundle

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/readiness"
)

const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"

	outputName = "name"
	outputKind = "kind"
)

// reader reads the value of a reference from what the executor observed. Its
// errors are those of resource.Render, made by r so that they name it.
type reader interface {
	read(ctx context.Context, in resource.Inputs, r *reference) (any, error)
}

// pathReader reads one value of the need's live object.
type pathReader struct {
	need graph.ID
	text string
	path *readiness.Path
}

func (p pathReader) read(_ context.Context, in resource.Inputs, r *reference) (any, error) {
	object := in.Object(p.need)
	if object == nil {
		return nil, r.wait("it is not there yet")
	}
	v, err := p.path.Value(object.Object)
	var missing *readiness.MissingError
	var several *readiness.SeveralError
	switch {
	case err == nil:
		return v, nil
	case errors.As(err, &missing):
		return nil, r.wait(p.text + " is not there yet")
	case errors.As(err, &several):
		return nil, r.invalid(ReasonInvalidPath, "%s finds more than one value; write a path that finds one", p.text)
	}
	return nil, r.invalid(ReasonInvalidPath, "cannot evaluate %s in %s: %v", p.text, p.need, err)
}

// outputReader reads the name or kind of the need's output object.
type outputReader struct {
	need graph.ID
	path string
	// self says that the need is a Secret or ConfigMap, its own output.
	self bool
}

func (o outputReader) read(_ context.Context, in resource.Inputs, r *reference) (any, error) {
	if o.self {
		return o.readSelf(in, r)
	}
	output, ok := in.Output(o.need)
	if !ok {
		return nil, r.noOutput()
	}
	if output.Name == "" {
		return nil, r.wait("its output object has no name yet")
	}
	if o.path == outputName {
		return output.Name, nil
	}
	return output.Kind, nil
}

func (o outputReader) readSelf(in resource.Inputs, r *reference) (any, error) {
	object := in.Object(o.need)
	if object == nil {
		return nil, r.wait("it is not there yet")
	}
	if o.path == outputName {
		return object.GetName(), nil
	}
	return object.GetKind(), nil
}

// dataReader reads an entry of the need's output object as plain text.
type dataReader struct {
	need graph.ID
	key  string
	self bool
}

func (d dataReader) read(ctx context.Context, in resource.Inputs, r *reference) (any, error) {
	object, err := d.object(ctx, in, r)
	if err != nil {
		return nil, err
	}
	data, _ := object.Object["data"].(map[string]any)
	v, ok := data[d.key]
	if !ok || v == nil {
		return nil, r.wait("data." + excerpt(d.key) + " of its output is not there yet")
	}
	s, ok := v.(string)
	if !ok {
		return nil, r.invalid(ReasonInvalidValue, "data.%s is %s, not a string", excerpt(d.key), kindOf(v))
	}
	if object.GetKind() == kindConfigMap {
		return s, nil
	}
	plain, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, r.invalid(ReasonInvalidValue, "data.%s is not base64", excerpt(d.key))
	}
	if !utf8.Valid(plain) {
		return nil, r.invalid(ReasonInvalidValue, "data.%s is not UTF-8 text, so it cannot stand in a string", excerpt(d.key))
	}
	return string(plain), nil
}

// object returns the output object; never nil without an error.
func (d dataReader) object(ctx context.Context, in resource.Inputs, r *reference) (*unstructured.Unstructured, error) {
	if d.self {
		if object := in.Object(d.need); object != nil {
			return object, nil
		}
		return nil, r.wait("it is not there yet")
	}
	if _, ok := in.Output(d.need); !ok {
		return nil, r.noOutput()
	}
	object, err := in.OutputObject(ctx, d.need)
	if err != nil {
		return nil, err
	}
	if object == nil {
		return nil, r.wait("its output object is not there yet")
	}
	return object, nil
}

func (r *reference) noOutput() error {
	err := &resource.InvalidError{}
	errors.As(r.invalid(ReasonInvalidModifier,
		"%s puts out no Secret or ConfigMap; its CRD needs the annotation smith.atlassian.com/CrOutputNameField", r.need), &err)
	err.Field = r.field + ".modifier"
	return err
}

// dataKey returns the key of a path data.<key>. Data is flat, so dots in the
// key need no escape but may have one; Smith's Go spelling Data.<key> and
// data['<key>'] work, too.
func dataKey(path string) (string, bool) {
	path = barePath(path)
	rest, ok := strings.CutPrefix(path, "data")
	if !ok {
		rest, ok = strings.CutPrefix(path, "Data")
	}
	if !ok || len(rest) < 2 {
		return "", false
	}
	if key, ok := strings.CutPrefix(rest, "."); ok {
		return strings.ReplaceAll(key, `\.`, "."), true
	}
	for _, quote := range []string{"'", `"`} {
		key, opened := strings.CutPrefix(rest, "["+quote)
		key, closed := strings.CutSuffix(key, quote+"]")
		if opened && closed && key != "" {
			return strings.ReplaceAll(key, `\.`, "."), true
		}
	}
	return "", false
}

// barePath removes braces, the root and the first dot.
func barePath(path string) string {
	path = strings.TrimSpace(path)
	path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
	return strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
}

// harmlessSecretPath reports whether a path of a Secret surely reads none of
// its data. Annotations are not on the list: kubectl apply keeps a copy of
// the whole object in one.
func harmlessSecretPath(path string) bool {
	switch barePath(path) {
	case "apiVersion", "kind", "type", "immutable", "metadata.name", "metadata.namespace",
		"metadata.uid", "metadata.resourceVersion", "metadata.generation", "metadata.creationTimestamp":
		return true
	}
	return strings.HasPrefix(barePath(path), "metadata.labels.")
}
