package graph_test

import (
	"encoding"
	"fmt"
	"testing"

	"github.com/truss-dev/truss/graph"
)

func TestWordsReadBack(t *testing.T) {
	cases := map[string]struct {
		reason string
		value  interface {
			encoding.TextMarshaler
			fmt.Stringer
		}
		into encoding.TextUnmarshaler
		want string
	}{
		"Declared":   {reason: "An edge's reason.", value: graph.Declared, into: new(graph.Reason), want: "declared"},
		"Referenced": {reason: "An edge's reason.", value: graph.Referenced, into: new(graph.Reason), want: "referenced"},
		"Inferred":   {reason: "An edge's reason.", value: graph.Inferred, into: new(graph.Reason), want: "inferred"},
		"Blocked":    {reason: "Smith's word.", value: graph.Blocked, into: new(graph.State), want: "Blocked"},
		"InProgress": {reason: "Smith's word.", value: graph.InProgress, into: new(graph.State), want: "InProgress"},
		"Ready":      {reason: "Smith's word.", value: graph.Ready, into: new(graph.State), want: "Ready"},
		"Error":      {reason: "Smith's word.", value: graph.Error, into: new(graph.State), want: "Error"},
		"Excluded":   {reason: "Truss's own word.", value: graph.Excluded, into: new(graph.State), want: "Excluded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := tc.value.MarshalText()
			if err != nil || string(text) != tc.want || tc.value.String() != tc.want {
				t.Fatalf("%s\nMarshalText() = %q, %v; String() = %q; want %q", tc.reason, text, err, tc.value, tc.want)
			}
			if err := tc.into.UnmarshalText(text); err != nil {
				t.Fatal(err)
			}
			if back, _ := tc.into.(encoding.TextMarshaler).MarshalText(); string(back) != tc.want {
				t.Errorf("%s\n%q read back as %q", tc.reason, tc.want, back)
			}
		})
	}
}

func TestUnknownWordsAreRefused(t *testing.T) {
	if _, err := graph.Reason(9).MarshalText(); err == nil || graph.Reason(9).String() != "reason(9)" {
		t.Errorf("Reason(9): error %v, String() %q", err, graph.Reason(9))
	}
	if _, err := graph.State(9).MarshalText(); err == nil || graph.State(9).String() != "State(9)" {
		t.Errorf("State(9): error %v, String() %q", err, graph.State(9))
	}
	if err := new(graph.Reason).UnmarshalText([]byte("guessed")); err == nil {
		t.Error("UnmarshalText accepted an unknown reason")
	}
	if err := new(graph.State).UnmarshalText([]byte("ready")); err == nil {
		t.Error("UnmarshalText accepted an unknown state")
	}
}
