package inventory_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

func TestNewPlanRecordsWhatTeardownNeeds(t *testing.T) {
	deployment := resource.Identity{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	plum := resource.Identity{Group: "fruit.example.com", Kind: "Plum", Name: "plum"}
	g, err := graph.New([]graph.Node[resource.Node]{
		{ID: "web", Payload: resource.Node{Identity: deployment, Version: "v1"}, Needs: []graph.Need{
			{ID: "settings", Reason: graph.Inferred}, {ID: "plum"},
		}},
		{ID: "settings", Payload: resource.Node{Identity: identityOf("settings"), Version: "v1"}},
		{ID: "plum", Payload: resource.Node{Identity: plum, Version: "v1beta1"}, Needs: []graph.Need{{ID: "settings"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := inventory.NewPlan(g, func(n *resource.Node) string {
		if n.Identity.Group == "fruit.example.com" {
			return ""
		}
		return strings.ToLower(n.Identity.Kind) + "s-of-" + n.Version
	})
	want := &inventory.Plan{Entries: []inventory.Entry{
		{Identity: deployment, Version: "v1", Resource: "deployments-of-v1", Needs: []int32{1, 2}, Depth: 2},
		{Identity: identityOf("settings"), Version: "v1", Resource: "configmaps-of-v1"},
		{Identity: plum, Version: "v1beta1", Needs: []int32{1}, Depth: 1},
	}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("NewPlan() -want, +got:\n%s", diff)
	}
	wantGVR := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments-of-v1"}
	if got := got.Entries[0].GVR(); got != wantGVR {
		t.Errorf("GVR() = %v, want %v", got, wantGVR)
	}
}

// drawRecorded draws a plan with any text and any valid positions.
func drawRecorded(t *rapid.T) *inventory.Plan {
	word := rapid.SampledFrom([]string{"", "a", "apps", "é\"<>&\u2028", "x/y"})
	p := &inventory.Plan{Entries: make([]inventory.Entry, rapid.IntRange(0, 6).Draw(t, "entries"))}
	for i := range p.Entries {
		p.Entries[i] = inventory.Entry{
			Identity: resource.Identity{
				Group: word.Draw(t, "group"), Kind: word.Draw(t, "kind"),
				Namespace: word.Draw(t, "namespace"), Name: word.Draw(t, "name"),
			},
			Version:  word.Draw(t, "version"),
			Resource: word.Draw(t, "resource"),
			Needs:    rapid.SliceOfN(rapid.Int32Range(0, int32(len(p.Entries))-1), 0, 3).Draw(t, "needs"),
			Depth:    rapid.Int32().Draw(t, "depth"),
		}
	}
	return p
}

func TestDecodeGivesBackWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawRecorded(t)
		e, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Encode()
		if err != nil || again.Hash != e.Hash || !bytes.Equal(again.Compressed, e.Compressed) {
			t.Fatalf("Encode() gives %s, then %s, %v", e.Hash, again.Hash, err)
		}
		got, err := inventory.Decode(inventory.Format, e.Compressed)
		if err != nil {
			t.Fatalf("Decode() = %v", err)
		}
		if diff := cmp.Diff(p, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Decode() -want, +got:\n%s", diff)
		}
	})
}

func TestHashesNamePlans(t *testing.T) {
	base := func() *inventory.Plan { return planOf(t, "a; b: a; c: a") }
	cases := map[string]struct {
		reason string
		change func(e *inventory.Entry)
		same   bool
	}{
		"Equal":     {reason: "Equal plans share a record.", change: func(*inventory.Entry) {}, same: true},
		"NoNeeds":   {reason: "It waits for nothing.", change: func(e *inventory.Entry) { e.Needs = nil }},
		"Name":      {reason: "Another object.", change: func(e *inventory.Entry) { e.Name = "d" }},
		"Namespace": {reason: "Another object.", change: func(e *inventory.Entry) { e.Namespace = "" }},
		"Group":     {reason: "Another object.", change: func(e *inventory.Entry) { e.Group = "apps" }},
		"Kind":      {reason: "Another object.", change: func(e *inventory.Entry) { e.Kind = "Secret" }},
		"Version":   {reason: "It is deleted in the version that is served.", change: func(e *inventory.Entry) { e.Version = "v2" }},
		"Resource":  {reason: "A plural that became known makes the object one to delete.", change: func(e *inventory.Entry) { e.Resource = "" }},
		"Needs":     {reason: "Another order of teardown.", change: func(e *inventory.Entry) { e.Needs[0] = 1 }},
		"Depth":     {reason: "Another depth.", change: func(e *inventory.Entry) { e.Depth++ }},
	}
	want, err := base().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := base()
			tc.change(&p.Entries[2])
			got, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if same := got.Hash == want.Hash; same != tc.same {
				t.Errorf("%s\nhashes %s and %s, want them equal: %t", tc.reason, got.Hash, want.Hash, tc.same)
			}
		})
	}
}

func TestTheStoredFormStaysWhatItWas(t *testing.T) {
	// Both are in clusters: whoever changes one of them has to change Format.
	const stored = `{"kinds":[{"v":"v1","k":"ConfigMap","r":"configmaps"},{"g":"apps","v":"v1","k":"Deployment"}],` +
		`"entries":[{"k":0,"ns":"shop","n":"a"},{"k":1,"n":"b","d":[0],"l":1}]}`
	const hash = "f720043d70"
	want := &inventory.Plan{Entries: []inventory.Entry{
		{Identity: identityOf("a"), Version: "v1", Resource: "configmaps"},
		{Identity: resource.Identity{Group: "apps", Kind: "Deployment", Name: "b"}, Version: "v1", Needs: []int32{0}, Depth: 1},
	}}
	got, err := inventory.Decode(1, zipped(t, stored))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode() -want, +got:\n%s", diff)
	}
	if e, err := want.Encode(); err != nil || e.Hash != hash {
		t.Errorf("Encode() = %s, %v, want %s", e.Hash, err, hash)
	}
}
