package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/truss-dev/truss/bundle/v1"
)

// maxFile bounds what is read of a file or of standard input, in bytes.
const maxFile = 64 << 20

// readFiles returns the Bundles of files, in order; "-" is in. Bundles without
// a namespace get the one given.
func readFiles(paths []string, in io.Reader, namespace string) ([]*v1.Bundle, error) {
	var out []*v1.Bundle
	var problems []error
	for _, path := range paths {
		found, err := readFile(path, in)
		if err != nil {
			problems = append(problems, err)
		}
		out = append(out, found...)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("cannot find a Bundle (%s) in %q", v1.GroupVersion, paths)
	}
	for _, b := range out {
		if b.Namespace == "" {
			b.Namespace = namespace
		}
	}
	return out, nil
}

func readFile(path string, in io.Reader) ([]*v1.Bundle, error) {
	if path == "-" {
		return readDocuments("standard input", in)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the file: %w", err)
	}
	found, err := readDocuments(path, file)
	return found, errors.Join(err, file.Close())
}

// readDocuments picks the Bundles out of YAML or JSON documents, those in
// lists too. What is wrong with any of them is told at once, each problem with
// the file, the number of the document and the field.
func readDocuments(name string, in io.Reader) ([]*v1.Bundle, error) {
	limited := &io.LimitedReader{R: in, N: maxFile + 1}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(limited))
	var out []*v1.Bundle
	var problems []error
	for number := 1; ; number++ {
		document, err := documents.Read()
		if limited.N == 0 {
			return nil, fmt.Errorf("cannot read %s: it has more than %d MiB", name, maxFile>>20)
		}
		if errors.Is(err, io.EOF) {
			return out, errors.Join(problems...)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		d := decoder{place: fmt.Sprintf("%s: document %d", name, number)}
		d.document(document)
		out, problems = append(out, d.found...), append(problems, d.problems...)
	}
}

// decoder reads one document.
type decoder struct {
	place    string
	found    []*v1.Bundle
	problems []error
}

func (d *decoder) refuse(err error) {
	d.problems = append(d.problems, fmt.Errorf("%s: %w", d.place, err))
}

func (d *decoder) document(text []byte) {
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		d.refuse(err)
		return
	}
	d.object(data)
}

// object picks a Bundle, or those of a list; other kinds are passed over.
func (d *decoder) object(data []byte) {
	var head struct {
		metav1.TypeMeta `json:",inline"`

		Items []runtime.RawExtension `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &head); err != nil {
		return // no Kubernetes object, such as an empty document
	}
	switch {
	case head.APIVersion == "v1" && head.Kind == "List", head.APIVersion == v1.GroupVersion.String() && head.Kind == v1.BundleKind+"List":
		for _, item := range head.Items {
			d.object(item.Raw)
		}
	case head.APIVersion == v1.GroupVersion.String() && head.Kind == v1.BundleKind:
		d.bundle(data)
	}
}

func (d *decoder) bundle(data []byte) {
	b := &v1.Bundle{}
	strict, err := kjson.UnmarshalStrict(data, b)
	if err != nil {
		d.refuse(err)
		return
	}
	for _, err := range strict {
		d.refuse(fmt.Errorf("Bundle %q: %w", b.Name, err)) //nolint:staticcheck // a kind's name is upper case
	}
	if b.Name == "" {
		d.refuse(errors.New("metadata.name: the Bundle has no name"))
	}
	d.found = append(d.found, b)
}
