package bundle

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph/resource"
)

// renderer makes the desired object of one resource. Immutable and safe for
// concurrent use.
type renderer struct {
	node       string
	field      string
	template   *template
	references []*reference
	// static is the object as it was written, shared by all renders of a
	// resource without placeholders.
	static *unstructured.Unstructured
	// read gives the values: those of live objects, or the examples.
	read func(ctx context.Context, in resource.Inputs, r *renderer) (map[string]value, error)
	// secret says that the object uses data of a Secret.
	secret bool
	// metadata says that a reference fills a part of the metadata, which must
	// then be judged after each render.
	metadata bool
}

func newRenderer(e *entry, read func(context.Context, resource.Inputs, *renderer) (map[string]value, error)) *renderer {
	r := &renderer{
		node:       e.source.Name,
		field:      e.objectField(""),
		template:   e.template,
		references: e.references,
		static:     asUnstructured(e.template.object),
		read:       read,
	}
	for _, s := range e.template.slots {
		r.metadata = r.metadata || s.under("metadata")
		for _, p := range s.text {
			used := e.byName[p.reference]
			r.secret = r.secret || used != nil && used.secret
		}
	}
	return r
}

// render is a resource.Render.
func (r *renderer) render(ctx context.Context, in resource.Inputs) (resource.Rendered, error) {
	values, err := r.read(ctx, in, r)
	if err != nil {
		return resource.Rendered{}, err
	}
	if r.template.root == nil {
		return resource.Rendered{Object: r.static}, nil
	}
	object, err := r.fill(values)
	if err != nil {
		return resource.Rendered{}, r.invalid(err)
	}
	return resource.Rendered{Object: asUnstructured(object), SecretData: r.secret}, nil
}

// fill renders the template and judges metadata that values may have changed.
func (r *renderer) fill(values map[string]value) (map[string]any, error) {
	object, err := r.template.render(values)
	if err != nil || !r.metadata {
		return object, err
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, errors.New("metadata is not a map")
	}
	if faults := metadataFaults(metadata); len(faults) > 0 {
		f := faults[0]
		return nil, &resource.InvalidError{
			Reason: f.reason, Node: r.node, Field: r.field + ".metadata" + f.field, Message: f.message,
		}
	}
	return object, nil
}

// invalid places a mistake that the values showed.
func (r *renderer) invalid(err error) error {
	if placed, ok := errors.AsType[*resource.InvalidError](err); ok {
		return placed
	}
	reason, field := ReasonInvalidValue, r.field
	if unfit, ok := errors.AsType[*slotError](err); ok {
		field += fieldPath(unfit.slot.path)
	}
	if errors.Is(err, errTooMuch) {
		reason = ReasonTooLarge
	}
	return &resource.InvalidError{Reason: reason, Node: r.node, Field: field, Message: err.Error()}
}

// readLive resolves every named reference, used or not: all problems that
// last are joined, and only without one a value that is missing makes the
// node wait.
func readLive(ctx context.Context, in resource.Inputs, r *renderer) (map[string]value, error) {
	values := make(map[string]value, len(r.references))
	var wait *resource.WaitError
	var lasting []error
	for _, ref := range r.references {
		data, err := ref.reader.read(ctx, in, ref)
		var missing *resource.WaitError
		switch {
		case errors.As(err, &missing):
			if wait == nil {
				wait = missing
			}
		case err != nil:
			lasting = append(lasting, err)
		default:
			values[ref.name] = value{data: data, plain: ref.plain}
		}
	}
	if len(lasting) > 0 {
		return nil, errors.Join(lasting...)
	}
	if wait != nil {
		return nil, wait
	}
	return values, nil
}

// readExamples gives the values that authors wrote as examples.
func readExamples(_ context.Context, _ resource.Inputs, r *renderer) (map[string]value, error) {
	return r.examples(), nil
}

func (r *renderer) examples() map[string]value {
	values := make(map[string]value, len(r.references))
	for _, ref := range r.references {
		if ref.example != nil {
			values[ref.name] = *ref.example
		}
	}
	return values
}
