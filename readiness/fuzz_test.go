package readiness

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"
)

// deep nests n below n, thirty levels.
func deep() map[string]any {
	value := map[string]any{"n": "end"}
	for range 30 {
		value = map[string]any{"n": value, "list": []any{"a", int64(1)}}
	}
	return value
}

// FuzzPath: what ParsePath admits evaluates without panic and in bounded time
// on any object, gives bounded and repeatable results, and wherever client-go
// gives a result too, it is the same one.
func FuzzPath(f *testing.F) {
	for _, expr := range []string{
		"status.state", "{$.status.state}", `status.conditions[?(@.type=="Ready")].status`, `status.conditions[?(@.n>1)].type`,
		`metadata.annotations['a\.b/c']`, "['status'].list[-1]", "status.list[0:2:1]", "status.map.*", "status.conditions[*].nil",
		"{..n..n..n..n..n..n..n}", "a[4294967295]", "a[0,0][0,0]", `c[?(@.a==@.b)].x`, `c[?(@.a)]`, "{range .a}", `a['b'`, "status.list[:1]", "n.n.n.list[1]",
		`['\']`, `a[?(@.x=='\'')]`, `{.a}{.b}`, "status.none[*]", `status.conditions[?(@.type!="x")].n`, `status.conditions[?("a"==@.type)]`,
	} {
		f.Add(expr, `{"a":[1,2],"c":[{"a":1,"b":1.0,"x":true}]}`)
	}
	f.Fuzz(func(t *testing.T, expr, document string) {
		p, err := ParsePath(expr)
		if err != nil {
			return
		}
		objects := []map[string]any{widget(), deep()}
		var obj map[string]any
		if k8sjson.Unmarshal([]byte(document), &obj) == nil {
			objects = append(objects, obj)
		}
		for _, obj := range objects {
			checkPath(t, p, obj)
		}
	})
}

func checkPath(t *testing.T, p *Path, obj map[string]any) {
	t.Helper()
	start := time.Now()
	text, textErr := p.Text(obj)
	value, err := p.Value(obj)
	if took := time.Since(start); took > 2*time.Second {
		t.Fatalf("%s took %s", p, took)
	}
	if _, isText := value.(string); !isText && len(text) > maxPathText {
		t.Fatalf("%s gives %d bytes", p, len(text))
	}
	again, errAgain := p.Value(obj)
	if !reflect.DeepEqual(value, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
		t.Fatalf("%s gives %v, then %v (%v, %v)", p, value, again, err, errAgain)
	}
	want, comparable := clientGo(p, obj)
	if !comparable {
		return
	}
	var several *SeveralError
	switch {
	case errors.As(textErr, &several):
		if several.Count != len(want) {
			t.Fatalf("%s: %d hits, client-go has %d", p, several.Count, len(want))
		}
	case textErr != nil:
		var shape *ShapeError
		if !errors.As(textErr, &shape) || shape.Segment != "" {
			t.Fatalf("%s: %v, client-go gives %q", p, textErr, want)
		}
	case len(want) > 1 || (len(want) == 1 && want[0] != text) || (len(want) == 0 && text != ""):
		t.Fatalf("%s gives %q, client-go %q", p, text, want)
	}
}

// clientGo evaluates with client-go. It is no measure where it fails, where it
// steps into the bytes of a text (wildcards), and where an empty list ends a
// slice over several lists.
func clientGo(p *Path, obj map[string]any) ([]string, bool) {
	slicing := 0
	for _, s := range p.segments {
		if _, ok := s.(wildcardSegment); ok || strings.Contains(s.String(), ".*") {
			return nil, false
		}
		if _, ok := s.(sliceSegment); ok || strings.Contains(s.String(), "[") {
			slicing++
		}
	}
	j := jsonpath.New("").AllowMissingKeys(true)
	if slicing > 1 || j.Parse(p.String()) != nil {
		return nil, false
	}
	results, err := j.FindResults(obj)
	if err != nil || len(results) != 1 {
		return nil, false
	}
	var texts []string
	for _, r := range results[0] {
		var text strings.Builder
		if err := j.PrintResults(&text, []reflect.Value{r}); err != nil {
			return nil, false
		}
		texts = append(texts, text.String())
	}
	return texts, true
}

// FuzzEvaluate: whatever an object holds, every rule gives one repeatable
// verdict with a reason and a line that says why, leaves the object as it was,
// and never shows a Secret's value.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{
		`{"apiVersion":"apps/v1","kind":"Deployment","status":{"observedGeneration":1,"conditions":[{"type":1}]}}`,
		`{"apiVersion":"v1","kind":"Pod","status":{"phase":"Running","containerStatuses":[7,{"state":[]}],"conditions":{}}}`,
		`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"generation":"x"},"status":{"observedGeneration":[]}}`,
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generation":2,"uid":"u"},"status":{"state":"Ready","conditions":[null,{"type":"Ready","status":true,"observedGeneration":"1"}]}}`,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"annotations":{"truss.dev/ready-when":"self.data.x == 1"}},"data":{"x":"canary"}}`,
		`{"kind":{},"metadata":[],"status":"x"}`, `{}`, `{"metadata":{"annotations":{"truss.dev/ready-when":1},"ownerReferences":[{"uid":"u"},1]}}`,
	} {
		f.Add(seed)
	}
	rules := []*Rules{nil, {}, {Custom: true, DeclaresStatus: true, HasStatusSubresource: true}, rulesOf(f, "v1", stateRule+outputRule+"\ntruss.dev/generation-path: status.seen"), rulesOf(f, "v1", "truss.dev/role: claim")}
	e := NewEvaluator()
	f.Fuzz(func(t *testing.T, document string) {
		var content map[string]any
		if k8sjson.Unmarshal([]byte(document), &content) != nil || content == nil {
			return
		}
		obj := &unstructured.Unstructured{Object: content}
		before, err := json.Marshal(content)
		if err != nil {
			return
		}
		rel := Related{Owned: []*unstructured.Unstructured{obj}, OutputExists: existingOutputs("Secret/a")}
		for _, r := range rules {
			first, second := e.Evaluate(obj, r, rel), e.Evaluate(obj, r, rel)
			if diff := cmp.Diff(first, second); diff != "" {
				t.Fatalf("two verdicts:\n%s", diff)
			}
			checkResult(t, obj, first)
		}
		after, err := json.Marshal(content)
		if err != nil || string(before) != string(after) {
			t.Fatalf("the object was changed: %v", err)
		}
		if SpecHash(obj) == "" {
			t.Fatal("no hash")
		}
	})
}

func checkResult(t *testing.T, obj *unstructured.Unstructured, got Result) {
	t.Helper()
	if got.Reason == "" || got.Message == "" || strings.ContainsAny(got.Message, "\n\r") || len(got.Message) > maxMessage+3 {
		t.Fatalf("a verdict that does not explain itself: %+v", got)
	}
	if got.Broken && got.Status == Ready || got.Output != nil && got.Status != Ready {
		t.Fatalf("a contradiction: %+v", got)
	}
	if isTerminating(obj) && got.Status == Ready {
		t.Fatalf("a terminating object is Ready: %+v", got)
	}
	if isSecret(obj) && textAt(obj.Object, "data", "x") == "canary" && strings.Contains(got.Message, "canary") {
		t.Fatalf("a value of a Secret: %+v", got)
	}
}
