package controller

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/truss-dev/truss/bundle"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor"
	"github.com/truss-dev/truss/graph/executor/writer"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/reconciler"
)

// kind implements reconciler.Kind for Bundles.
type kind struct {
	// defaultServiceAccount writes the objects of Bundles that name none;
	// empty means the manager itself.
	defaultServiceAccount string
	now                   func() time.Time
}

// New implements reconciler.Kind.
func (k *kind) New() *v1.Bundle { return &v1.Bundle{} }

// Owner implements reconciler.Kind.
func (k *kind) Owner(b *v1.Bundle) *resource.Owner {
	account := b.Spec.ServiceAccountName
	if account == "" {
		account = k.defaultServiceAccount
	}
	return &resource.Owner{
		UID: b.UID, Kind: v1.GroupVersion.WithKind("Bundle"), Resource: "bundles",
		Namespace: b.Namespace, Name: b.Name, Generation: b.Generation,
		ServiceAccount: account, Manager: resource.ManagerCore, Finalizer: v1.Finalizer,
		Orphan: b.DeletionTimestamp != nil && slices.Contains(b.Finalizers, metav1.FinalizerOrphanDependents),
	}
}

// Compile implements reconciler.Kind.
func (k *kind) Compile(b *v1.Bundle) (*resource.Graph, error) { return bundle.Compile(b) }

// Status implements reconciler.Kind.
func (k *kind) Status(b *v1.Bundle, p reconciler.Previous, r *executor.Report) reconciler.Status {
	before := statusOr(p.Written, &b.Status)
	if r.Failure != nil {
		next := bundle.Status(before, bundle.Refused(b, r.Failure), k.now())
		return changed(before, statusOr(p.Shown, before), &next, nil)
	}
	report := bundle.Report{Observed: r.Owner.Generation, Nodes: nodes(r), SpecSize: bundle.SpecSize(b)}
	for _, id := range r.ToDelete {
		report.ToDelete = append(report.ToDelete, v1.ObjectToDelete{Group: id.Group, Version: id.Version, Kind: id.Kind, Name: id.Name})
	}
	if refusal, refused := referToConsent(r.Owner, report.Nodes); refused {
		report.Conditions = []metav1.Condition{impersonation(r.Owner, refusal)}
	}
	next := bundle.Status(before, report, k.now())
	shown := statusOr(p.Shown, before)
	return changed(before, shown, &next, bundle.ResourceEvents(r.Len(), changes(r, report.Nodes, shown)))
}

// Deleting implements reconciler.Kind.
func (k *kind) Deleting(b *v1.Bundle, p reconciler.Previous, r *executor.TeardownReport) reconciler.Status {
	before := statusOr(p.Written, &b.Status)
	left := make([]v1.ObjectToDelete, 0, len(r.Left))
	for _, id := range r.Left {
		left = append(left, v1.ObjectToDelete{Group: id.Group, Version: id.Version, Kind: id.Kind, Name: id.Name})
	}
	if r.Reason == writer.ReasonImpersonationForbidden {
		r.Message = consent(k.Owner(b), r.Message)
	}
	next := bundle.Deleting(before, bundle.Teardown{
		Observed: b.Generation, Total: r.Total, Left: left, Failed: r.Failed, Reason: r.Reason, Message: r.Message,
		SpecSize: bundle.SpecSize(b),
	}, k.now())
	return changed(before, statusOr(p.Shown, before), &next, nil)
}

func statusOr(s any, otherwise *v1.BundleStatus) *v1.BundleStatus {
	if s, ok := s.(*v1.BundleStatus); ok {
		return s
	}
	return otherwise
}

func changed(written, shown, next *v1.BundleStatus, resources []bundle.Event) reconciler.Status {
	s := reconciler.Status{Object: next, Changed: !equality.Semantic.DeepEqual(written, next)}
	for _, e := range append(resources, bundle.ConditionEvents(shown, next)...) {
		s.Events = append(s.Events, reconciler.Event{Warning: e.Type == bundle.EventWarning, Reason: e.Reason, Message: e.Message})
	}
	for _, t := range []string{v1.ConditionReady, v1.ConditionError} {
		s.Urgent = s.Urgent || holds(next, t) && !holds(written, t)
	}
	// A new generation that is Ready at once is a transition, too.
	s.Urgent = s.Urgent || holds(next, v1.ConditionReady) && written.ObservedGeneration != next.ObservedGeneration
	return s
}

func holds(s *v1.BundleStatus, kind string) bool {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return s.Conditions[i].Status == metav1.ConditionTrue
		}
	}
	return false
}

func nodes(r *executor.Report) []bundle.NodeReport {
	out := make([]bundle.NodeReport, r.Len())
	for i := range out {
		n := r.Node(i)
		out[i] = bundle.NodeReport{
			Name: string(n.Name), State: n.State, Terminal: n.Terminal,
			Reason: n.Reason, Message: n.Message, BlockedBy: n.BlockedBy,
		}
	}
	return out
}

// changes are the resources whose state is another than the one that was
// shown: a run that starts over, for a new generation or in a new process,
// comes to most states anew. Resources without needs begin in InProgress, so
// that those which stay there did not move, and yet are news.
func changes(r *executor.Report, all []bundle.NodeReport, shown *v1.BundleStatus) []bundle.Change {
	was := states(shown)
	out := make([]bundle.Change, 0, len(r.Moved))
	moved := make(map[int]bool, len(r.Moved))
	for _, t := range r.Moved {
		moved[t.Index] = true
		if n := all[t.Index]; was[n.Name] != n.State.String() {
			out = append(out, bundle.Change{NodeReport: n, From: t.From})
		}
	}
	for i := range all {
		n := &all[i]
		if n.State == graph.InProgress && n.Reason != "" && !moved[i] && was[n.Name] == "" {
			out = append(out, bundle.Change{NodeReport: *n, From: graph.Blocked})
		}
	}
	return out
}

// states are the states of the resources that a status lists.
func states(s *v1.BundleStatus) map[string]string {
	out := make(map[string]string, len(s.ResourceStatuses))
	for i := range s.ResourceStatuses {
		r := &s.ResourceStatuses[i]
		for j := range r.Conditions {
			if r.Conditions[j].Status == metav1.ConditionTrue {
				out[r.Name] = r.Conditions[j].Type
			}
		}
	}
	return out
}

// impersonation is the condition of a Bundle whose namespace has not allowed
// Truss to act as its service account; its message is what to apply.
func impersonation(o *resource.Owner, refusal string) metav1.Condition {
	return metav1.Condition{
		Type: writer.ReasonImpersonationForbidden, Status: metav1.ConditionTrue,
		Reason: writer.ReasonImpersonationForbidden, Message: consent(o, refusal),
	}
}
