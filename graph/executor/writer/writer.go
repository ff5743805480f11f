package writer

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/executor/observer"
	"github.com/truss-dev/truss/graph/resource"
)

// FieldManager is the name under which Truss writes children.
const FieldManager = "truss"

// Recorder learns of the responses to writes and live reads, so that the next
// look at the object sees at least them. An observer.Store is one.
type Recorder interface {
	Observe(u *unstructured.Unstructured) observer.Item
	ObserveDeleted(namespace, name string, uid types.UID, rv string)
}

// Meter counts requests. kind is "Kind.group", operation is create, apply,
// migrate, get, patch or delete.
type Meter interface {
	Applied(kind, operation, result string, took time.Duration)
	InflightWrites(delta int)
}

// Writer writes children of any owner. Safe for concurrent use.
type Writer struct {
	key   Key
	scope Scope
	meter Meter
	// slots bounds the writes in flight of all owners together.
	slots chan struct{}
	now   func() time.Time
}

// New returns a Writer that signs with key, lets owners write what scope
// allows and has at most inFlight writes under way.
func New(key Key, scope Scope, inFlight int, meter Meter) *Writer {
	return &Writer{key: key, scope: scope, meter: meter, slots: make(chan struct{}, inFlight), now: time.Now}
}

// Request is one object to bring to its desired state.
type Request struct {
	Owner   *resource.Owner
	Desired *Desired
	Mapping *meta.RESTMapping
	Client  *cluster.Client
	// Live is the object as last seen, nil when it is absent.
	Live *observer.Item
	// Known says that the object was seen or recorded before: before it is
	// created again a live read decides whether it is really gone.
	Known    bool
	Recorder Recorder
	Memory   *Memory
	// BeforeCreate is called before a POST and may refuse it.
	BeforeCreate func(ctx context.Context) error
}

func (r *Request) id() resource.Identity { return r.Desired.Identity }

func (r *Request) resource() dynamic.ResourceInterface {
	return r.Client.Dynamic.Resource(r.Mapping.Resource).Namespace(r.id().Namespace)
}

// Outcome is an object after Ensure.
type Outcome struct {
	Live observer.Item
	// Wrote says that at least one write was sent.
	Wrote bool
	// Created says that the object is new.
	Created bool
	// Conflicts are fields that others hold by right and that were left alone.
	Conflicts Conflicts
}

// Admit says whether the owner may write the object at all; nil if so.
func (w *Writer) Admit(o *resource.Owner, id resource.Identity, m *meta.RESTMapping) *Failure {
	return w.scope.Check(o, id, m)
}

// Ensure brings an object to its desired state with as few requests as can
// be: none when it is settled, one POST when it is new, two for its first
// change and one for each later one. A *Failure says what stands in the way.
func (w *Writer) Ensure(ctx context.Context, r *Request) (Outcome, *Failure) {
	out, f := w.ensure(ctx, r)
	if f != nil && r.Desired.SecretData && FromAPI(f.Err) {
		f.Message = worded("write", r.id(), f.Reason, withoutValues(f.Reason, f.Err))
	}
	return out, f
}

func (w *Writer) ensure(ctx context.Context, r *Request) (Outcome, *Failure) {
	if f := w.Admit(r.Owner, r.id(), r.Mapping); f != nil {
		return Outcome{}, f
	}
	if r.Live != nil {
		return w.converge(ctx, r, *r.Live)
	}
	if r.Known {
		live, err := w.read(ctx, r)
		if err == nil {
			return w.converge(ctx, r, live)
		}
		if !goneByName(err, r.id()) {
			return Outcome{}, Classify(r.id(), err)
		}
		r.Recorder.ObserveDeleted(r.id().Namespace, r.id().Name, "", "")
	}
	return w.create(ctx, r)
}

// Settled says that nothing is to be written for an object whose desired state
// has this hash. It sends nothing; false only means that Ensure has to look.
func (w *Writer) Settled(o *resource.Owner, id resource.Identity, hash string, live observer.Item, m *Memory) bool {
	if m.settled != (pair{hash, live.Fields.Digest()}) || live.Object.GetDeletionTimestamp() != nil {
		return false
	}
	annotations := live.Object.GetAnnotations()
	stamp, ours := w.key.Verify(o.UID, id, annotations[resource.AppliedAnnotation])
	return ours && stamp.says(hash) && annotations[resource.DeletionTimestampAnnotation] == ""
}

func (w *Writer) create(ctx context.Context, r *Request) (Outcome, *Failure) {
	if r.BeforeCreate != nil {
		if err := r.BeforeCreate(ctx); err != nil {
			return Outcome{}, Classify(r.id(), err)
		}
	}
	object := w.stamped(r, Stamp{Hash: r.Desired.Hash})
	created, err := w.do(r, "create", func() (*unstructured.Unstructured, error) {
		return r.resource().Create(ctx, object, metav1.CreateOptions{FieldManager: FieldManager})
	})
	switch {
	case err == nil:
		item := r.Recorder.Observe(created)
		r.Memory.settled = pair{r.Desired.Hash, item.Fields.Digest()}
		return Outcome{Live: item, Wrote: true, Created: true}, nil
	case !apierrors.IsAlreadyExists(err):
		return Outcome{}, Classify(r.id(), err)
	}
	live, err := w.read(ctx, r)
	if err != nil {
		return Outcome{}, Classify(r.id(), err)
	}
	return w.converge(ctx, r, live)
}

// read gets the live object. Impersonated reads see what the writer may see.
func (w *Writer) read(ctx context.Context, r *Request) (observer.Item, error) {
	live, err := w.readWhole(ctx, r)
	if err != nil {
		return observer.Item{}, err
	}
	return r.Recorder.Observe(live), nil
}

// readWhole gets the live object with the managedFields of everybody.
func (w *Writer) readWhole(ctx context.Context, r *Request) (*unstructured.Unstructured, error) {
	return w.do(r, "get", func() (*unstructured.Unstructured, error) {
		return r.resource().Get(ctx, r.id().Name, metav1.GetOptions{})
	})
}

// stamped is the object to send: the desired one, shared but for metadata,
// with the annotation that proves who wrote it.
func (w *Writer) stamped(r *Request, s Stamp) *unstructured.Unstructured {
	out := copyMetadata(r.Desired.Object)
	annotations := out.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[resource.AppliedAnnotation] = w.key.Sign(r.Owner.UID, r.id(), s)
	out.SetAnnotations(annotations)
	return out
}

// do sends one request that answers with an object.
func (w *Writer) do(r *Request, operation string, send func() (*unstructured.Unstructured, error)) (u *unstructured.Unstructured, err error) {
	err = w.measure(r.id(), operation, func() error {
		u, err = send()
		return err
	})
	return u, err
}

// measure sends one request within the global limit and meters it.
func (w *Writer) measure(id resource.Identity, operation string, send func() error) error {
	w.slots <- struct{}{}
	w.meter.InflightWrites(1)
	defer func() {
		w.meter.InflightWrites(-1)
		<-w.slots
	}()
	start := w.now()
	err := send()
	w.meter.Applied(id.GroupKind().String(), operation, resultOf(id, err), w.now().Sub(start))
	return err
}

// resultOf is the metric label of an outcome.
func resultOf(id resource.Identity, err error) string {
	if err == nil {
		return "ok"
	}
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
		return "conflict"
	}
	f := Classify(id, err)
	switch {
	case f.Reason == ReasonThrottled:
		return "throttled"
	case f.Class == Denied:
		return "denied"
	case f.Class == Terminal:
		return "invalid"
	}
	return "error"
}

// goneByName says that a 404 names the object, and so proves that it is gone.
// A 404 of the API server itself only says that it does not serve the path.
func goneByName(err error, id resource.Identity) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	s := status.Status()
	return s.Code == http.StatusNotFound && s.Details != nil && s.Details.Name == id.Name &&
		!apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
