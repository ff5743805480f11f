package observer

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FuzzFields reads arbitrary field sets and objects: nothing panics, what is
// missing can be removed, and after that nothing is missing any more.
func FuzzFields(f *testing.F) {
	f.Add(`{"f:spec":{"f:a":{},"f:list":{"k:{\"name\":\"x\"}":{"f:b":{}},"v:1":{},"i:0":{}}}}`, `{"spec":{"a":1,"list":[{"name":"x","b":2,"c":3},1,"s"]}}`)
	f.Add(`{"f:metadata":{"f:labels":{".":{}}}}`, `{"metadata":{"labels":{"a":"b"}}}`)
	f.Add(`{"k:{":{},"k:null":{},"v:":{},"i:x":{},":":{}}`, `{"":[[null],{}]}`)
	f.Fuzz(func(t *testing.T, set, object string) {
		var fields, desired map[string]any
		if json.Unmarshal([]byte(set), &fields) != nil || json.Unmarshal([]byte(object), &desired) != nil {
			t.Skip()
		}
		live := map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{
			"manager": DefaultManager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields,
		}}}}
		ours := FieldsOf(live, DefaultManager)
		missing := ours.Owns(desired)
		left := desired
		for _, p := range missing {
			_ = p.String()
			left = RemovePath(left, p)
		}
		if again := ours.Owns(left); len(again) > len(missing) {
			t.Errorf("removing what is missing made more missing: %v, before %v", again, missing)
		}
		foreign := &unstructured.Unstructured{Object: map[string]any{}}
		raw := &metav1.FieldsV1{}
		raw.SetRawBytes([]byte(set))
		foreign.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "other", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: raw}})
		retake, conflicts := SplitDrift(foreign, DefaultManager, missing...)
		if len(retake)+len(conflicts) != len(missing) {
			t.Errorf("%d missing, %d taken back, %d reported", len(missing), len(retake), len(conflicts))
		}
	})
}
