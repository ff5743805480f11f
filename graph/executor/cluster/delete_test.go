package cluster

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

func TestDeleteTellsWhatIsLeft(t *testing.T) {
	things := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	cases := map[string]struct {
		resource        schema.GroupVersionResource
		namespace, name string
		status          int
		answer          string
		path, left      string
		failed          func(error) bool
		reason          string
	}{
		"gone": {configMaps, "ns", "a", 200, `{"kind":"Status","apiVersion":"v1","status":"Success"}`,
			"/api/v1/namespaces/ns/configmaps/a", "", nil, "a Status without an object proves that it is gone"},
		"finalizer": {things, "", "a", 200, `{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"a","uid":"u"}}`,
			"/apis/example.com/v1/things/a", "u", nil, "the terminating object is the answer"},
		"conflict": {things, "ns", "a", 409, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`,
			"/apis/example.com/v1/namespaces/ns/things/a", "", apierrors.IsConflict, "the reason is kept"},
		"traversal": {configMaps, "ns", "..", 200, `{}`, "", "", func(err error) bool { return err != nil },
			"the path would be that of the namespace"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := ""
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path = r.URL.Path
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer)
			}))
			defer server.Close()
			handle, err := New(&rest.Config{Host: server.URL}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			client, err := handle.Client(Account{})
			if err != nil {
				t.Fatal(err)
			}
			left, err := client.Delete(context.Background(), c.resource, c.namespace, c.name, metav1.DeleteOptions{})
			if path != c.path || (c.failed == nil) != (err == nil) || (c.failed != nil && !c.failed(err)) {
				t.Errorf("%s: path %q, error %v", c.reason, path, err)
			}
			uid := ""
			if left != nil {
				uid = string(left.UID)
			}
			if uid != c.left {
				t.Errorf("%s: left %q", c.reason, uid)
			}
		})
	}
}
