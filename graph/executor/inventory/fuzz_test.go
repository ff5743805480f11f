package inventory_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// FuzzDecode checks that whatever a record holds gives an error or a plan that
// can be encoded, read again and reversed. The data is compressed first when
// zip is set, so that the fuzzer gets past the checksum.
func FuzzDecode(f *testing.F) {
	e, err := planOf(f, "a; b: a; c: a b").Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(int64(inventory.Format), e.Compressed, false)
	f.Add(int64(0), e.Compressed, false)
	f.Add(int64(inventory.Format), e.Compressed[:20], false)
	for _, seed := range []string{
		``, `null`, `{}`, `{"entries":[null]}`,
		`{"kinds":[{"v":"v1","k":"K","r":"ks"}],"entries":[{"k":0,"n":"a"},{"k":0,"n":"b","d":[0],"l":1}]}`,
		`{"kinds":[{"r":"ks"}],"entries":[{"d":[1]},{"d":[0]}]}`,
		`{"kinds":[{}],"entries":[{"k":-1,"d":[2147483647]}]}`,
		`{"kinds":[{"r":"r"},{"r":"r"}],"entries":[{"k":0},{"k":1},{"k":1,"d":[1,1]}]}`,
	} {
		f.Add(int64(inventory.Format), []byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, format int64, data []byte, zip bool) {
		if zip {
			data = zipped(t, string(data))
		}
		p, err := inventory.Decode(format, data)
		if err != nil {
			if p != nil {
				t.Fatalf("Decode() returned a plan beside %v", err)
			}
			return
		}
		if format != inventory.Format {
			t.Fatalf("Decode() read format %d", format)
		}
		checkEncodes(t, p)
		checkReverses(t, p)
	})
}

// checkEncodes checks that a plan survives being stored again.
func checkEncodes(t *testing.T, p *inventory.Plan) {
	t.Helper()
	e, err := p.Encode()
	if invalid, ok := errors.AsType[*resource.InvalidError](err); ok && invalid.Reason == "TooLarge" {
		return
	}
	if err != nil {
		t.Fatalf("Encode() = %v", err)
	}
	again, err := inventory.Decode(inventory.Format, e.Compressed)
	if err != nil {
		t.Fatalf("Decode() of what was decoded and encoded: %v", err)
	}
	if diff := cmp.Diff(p, again, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("read again: -want, +got:\n%s", diff)
	}
}

// checkReverses checks that a plan of strangers, as the older one, never stands
// in the way of what the newest plan says.
func checkReverses(t *testing.T, p *inventory.Plan) {
	t.Helper()
	g, err := inventory.Reverse([]*inventory.Plan{planOf(t, "a; b: a"), p}, everything)
	if _, ok := errors.AsType[*graph.CycleError](err); ok {
		t.Fatalf("Reverse() = %v", err)
	}
	if err != nil {
		return
	}
	a, _ := g.Index(inventory.NodeID(identityOf("a")))
	b, _ := g.Index(inventory.NodeID(identityOf("b")))
	if !g.HasEdgeFromTo(int64(b), int64(a)) {
		t.Fatal("the newest plan's edge is lost")
	}
}
