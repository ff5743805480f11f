package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/cli/trace"
)

// journal knows a Bundle and its objects from watches, and writes down when
// objects go.
type journal struct {
	plan *trace.Plan
	// changed receives after something changed; several changes may be one.
	changed chan struct{}

	mu     sync.Mutex
	bundle *v1.Bundle // nil when it is gone
	live   trace.Live
	gone   []departure
	failed error
}

// departure is the end of an object.
type departure struct {
	kind schema.GroupKind
	name string
	at   time.Time
	// revision is the API server's: it orders departures of different kinds,
	// which come by different watches.
	revision uint64
}

// watched is a watch that was opened after what it watches was listed.
type watched struct {
	events watch.Interface
	handle func(watch.Event) error
}

// follow watches a Bundle that was just created, and its objects, until ctx
// ends.
func (d *demo) follow(ctx context.Context, name string) (*journal, error) {
	b, err := d.getBundle(ctx, name)
	if err != nil {
		return nil, err
	}
	j := &journal{plan: trace.NewPlan(b), changed: make(chan struct{}, 1), bundle: b, live: trace.Live{}}
	one := metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String(), ResourceVersion: b.ResourceVersion,
	}
	events, err := d.objects.Resource(bundleResource).Namespace(namespace).Watch(ctx, one)
	if err != nil {
		return nil, fmt.Errorf("cannot watch Bundle %q: %w", name, err)
	}
	all := []watched{{events, j.sawBundle}}
	for _, kind := range j.plan.Kinds(&b.Status) {
		w, err := d.watchKind(ctx, j, kind, b.UID)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	for _, w := range all {
		go j.run(ctx, w)
	}
	return j, nil
}

// watchKind lists the Bundle's objects of one kind and watches them from there.
func (d *demo) watchKind(ctx context.Context, j *journal, kind schema.GroupVersionKind, owner types.UID) (watched, error) {
	resources := d.metadata.Resource(resourceOf(kind)).Namespace(namespace)
	options := metav1.ListOptions{LabelSelector: resource.OwnerLabel + "=" + string(owner)}
	list, err := resources.List(ctx, options)
	if err != nil {
		return watched{}, fmt.Errorf("cannot list %s: %w", kind.Kind, err)
	}
	j.live[kind.GroupKind()] = map[string]trace.Child{}
	for i := range list.Items {
		j.live[kind.GroupKind()][list.Items[i].Name] = trace.ChildOf(&list.Items[i].ObjectMeta)
	}
	options.ResourceVersion = list.ResourceVersion
	events, err := resources.Watch(ctx, options)
	if err != nil {
		return watched{}, fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
	}
	return watched{events, func(e watch.Event) error { return j.sawObject(kind.GroupKind(), e) }}, nil
}

// run hands events on. The API server ends no watch before half an hour.
func (j *journal) run(ctx context.Context, w watched) {
	defer w.events.Stop()
	err := func() error {
		for e := range w.events.ResultChan() {
			if err := w.handle(e); err != nil {
				return err
			}
			j.wake()
		}
		return fmt.Errorf("the API server ended a watch")
	}()
	if ctx.Err() != nil {
		return
	}
	j.mu.Lock()
	j.failed = err
	j.mu.Unlock()
	j.wake()
}

func (j *journal) wake() {
	select {
	case j.changed <- struct{}{}:
	default: // it is going to look already
	}
}

func (j *journal) sawBundle(e watch.Event) error {
	object, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("the watch of the Bundle failed: %v", e.Object)
	}
	b, err := bundleOf(object)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.bundle = b
	if e.Type == watch.Deleted {
		j.bundle = nil
	}
	return nil
}

func (j *journal) sawObject(kind schema.GroupKind, e watch.Event) error {
	object, ok := e.Object.(*metav1.PartialObjectMetadata)
	if !ok {
		return fmt.Errorf("the watch of %s failed: %v", kind.Kind, e.Object)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Type != watch.Deleted {
		j.live[kind][object.Name] = trace.ChildOf(&object.ObjectMeta)
		return nil
	}
	delete(j.live[kind], object.Name)
	revision, err := strconv.ParseUint(object.ResourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("cannot read the revision of %s %q: %w", kind.Kind, object.Name, err)
	}
	j.gone = append(j.gone, departure{kind, object.Name, time.Now(), revision})
	return nil
}

// look returns the state of things; nil without an error when the Bundle is
// gone.
func (j *journal) look() (*trace.Trace, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.bundle == nil || j.failed != nil {
		return nil, j.failed
	}
	return trace.Of(j.bundle, j.plan, j.live), nil
}

// departures are the ends of objects so far, in their order.
func (j *journal) departures() []departure {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := slices.Clone(j.gone)
	slices.SortFunc(out, func(a, b departure) int { return cmp.Compare(a.revision, b.revision) })
	return out
}

func bundleOf(object *unstructured.Unstructured) (*v1.Bundle, error) {
	b := &v1.Bundle{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, b); err != nil {
		return nil, fmt.Errorf("cannot read the Bundle: %w", err)
	}
	return b, nil
}

func (d *demo) getBundle(ctx context.Context, name string) (*v1.Bundle, error) {
	object, err := d.objects.Resource(bundleResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot get Bundle %q: %w", name, err)
	}
	return bundleOf(object)
}
