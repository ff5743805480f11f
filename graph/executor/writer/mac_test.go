package writer

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
)

func TestAStampIsGoodForOneOwnerAndOneObject(t *testing.T) {
	id := resource.Identity{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	value := testKey.Sign("uid-1", id, Stamp{Hash: "h"})
	other := func(change func(*resource.Identity)) resource.Identity {
		next := id
		change(&next)
		return next
	}
	cases := map[string]struct {
		reason string
		key    Key
		owner  types.UID
		id     resource.Identity
		value  string
		want   bool
	}{
		"Own":            {"What was signed verifies", testKey, "uid-1", id, value, true},
		"OtherOwner":     {"Another owner's object is not ours", testKey, "uid-2", id, value, false},
		"OtherName":      {"A stamp copied to another object proves nothing", testKey, "uid-1", other(func(i *resource.Identity) { i.Name = "db" }), value, false},
		"OtherNamespace": {"The same, across namespaces", testKey, "uid-1", other(func(i *resource.Identity) { i.Namespace = "x" }), value, false},
		"OtherKind":      {"The same, across kinds", testKey, "uid-1", other(func(i *resource.Identity) { i.Kind = "DaemonSet" }), value, false},
		"OtherGroup":     {"The same, across groups", testKey, "uid-1", other(func(i *resource.Identity) { i.Group = "" }), value, false},
		"Shifted":        {"Fields cannot run into each other", testKey, "uid-1", other(func(i *resource.Identity) { i.Namespace, i.Name = "sho", "pweb" }), value, false},
		"OtherKey":       {"Whoever lacks the key cannot sign", Key(strings.Repeat("x", KeySize)), "uid-1", id, value, false},
		"Adopted":        {"Adoption is part of what is signed", testKey, "uid-1", id, value + ":a", false},
		"Garbage":        {"No stamp", testKey, "uid-1", id, "yes", false},
		"Empty":          {"No stamp", testKey, "uid-1", id, "", false},
		"NoMAC":          {"A hash alone is no proof", testKey, "uid-1", id, "1:h:", false},
		"Longer":         {"Nothing may follow", testKey, "uid-1", id, value + ":a:b", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, got := tc.key.Verify(tc.owner, tc.id, tc.value); got != tc.want {
				t.Errorf("%s: Verify() = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestAStampKeepsWhatWasStamped(t *testing.T) {
	id := resource.Identity{Kind: "ConfigMap", Namespace: "a", Name: "b"}
	for _, want := range []Stamp{{Hash: "h"}, {Hash: "h", Adopted: true}} {
		got, ours := testKey.Verify("u", id, testKey.Sign("u", id, want))
		if !ours || got != want {
			t.Errorf("Verify(Sign(%+v)) = %+v, %t", want, got, ours)
		}
	}
}

func TestAnUnknownHashFormatIsStillOursWhereTheMACIsGood(t *testing.T) {
	id := resource.Identity{Kind: "ConfigMap", Namespace: "a", Name: "b"}
	later := "2:longer-hash-of-later:" + testKey.mac("2", "u", id, false)
	got, ours := testKey.Verify("u", id, later)
	if !ours {
		t.Fatal("after a roll-back every object would be foreign, and an uninstall would leave all of them")
	}
	if !got.says("anything") {
		t.Error("an unknown format alone must cause no write")
	}
	if _, ours := testKey.Verify("u", id, strings.Replace(later, "2:", "3:", 1)); ours {
		t.Error("the MAC covers the format")
	}
	known, _ := testKey.Verify("u", id, testKey.Sign("u", id, Stamp{Hash: "h"}))
	if known.says("other") || !known.says("h") {
		t.Error("a known hash says what was applied")
	}
}
