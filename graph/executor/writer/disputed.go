package writer

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/truss-dev/truss/graph/executor/observer"
)

// lost returns the leaves of desired that are not ours any more. Where our
// field set covers more than it names, it is others' having a leaf, or its
// absence, that shows it.
func lost(r *Request, live observer.Item, whole *unstructured.Unstructured) []observer.Path {
	out := live.Fields.Owns(r.Desired.Object.Object)
	for _, doubt := range live.Fields.Doubts(r.Desired.Object.Object, live.Object.Object) {
		others := slices.ContainsFunc(observer.Holders(whole.GetManagedFields(), doubt.Path), func(h observer.Holder) bool {
			return h.Manager != FieldManager || h.Subresource != ""
		})
		if doubt.Absent || others {
			out = append(out, doubt.Path)
		}
	}
	return out
}

// disputed adds to the missing paths the leaves of desired for which an apply
// was refused. They may be ours as well: two managers that applied the same
// value share a field, until one of them wants another value.
func disputed(desired map[string]any, refused error, missing []observer.Path) []observer.Path {
	var status apierrors.APIStatus
	if refused == nil || !errors.As(refused, &status) || status.Status().Details == nil {
		return missing
	}
	out, known := missing, map[string]bool{}
	for _, p := range missing {
		known[p.String()] = true
	}
	for _, p := range (observer.Fields{}).Owns(desired) { // with nothing owned, all leaves
		printed := printedAs(p)
		for _, c := range status.Status().Details.Causes {
			if !known[p.String()] && c.Type == metav1.CauseTypeFieldManagerConflict && (above(printed, c.Field) || above(c.Field, printed)) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// printedAs prints a path as the API server does in conflicts, where names
// are not quoted.
func printedAs(p observer.Path) string {
	var b strings.Builder
	for i := range p {
		if p[i].Field != "" {
			b.WriteString("." + p[i].Field)
			continue
		}
		b.WriteString(p[i : i+1].String())
	}
	return b.String()
}

// above says whether path a is b or holds b.
func above(a, b string) bool {
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
