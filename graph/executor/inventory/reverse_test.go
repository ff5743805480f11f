package inventory_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// planOf builds a plan from "name: need need" entries, separated by ";". An
// entry whose name ends in "?" was recorded while its plural was unknown.
func planOf(t testing.TB, text string) *inventory.Plan {
	t.Helper()
	p := &inventory.Plan{}
	var needs []string
	position := map[string]int32{}
	for entry := range strings.SplitSeq(text, ";") {
		name, need, _ := strings.Cut(strings.TrimSpace(entry), ":")
		name, unknown := strings.CutSuffix(name, "?")
		e := inventory.Entry{Identity: identityOf(name), Version: "v1", Resource: "configmaps"}
		if unknown {
			e.Resource = ""
		}
		position[name] = int32(len(p.Entries))
		p.Entries = append(p.Entries, e)
		needs = append(needs, need)
	}
	for i := range p.Entries {
		for name := range strings.FieldsSeq(needs[i]) {
			n, ok := position[name]
			if !ok {
				t.Fatalf("plan %q has no entry %q", text, name)
			}
			p.Entries[i].Needs = append(p.Entries[i].Needs, n)
		}
	}
	measure(p)
	return p
}

// measure sets the depths of a plan; a cycle ends after a round for each entry.
func measure(p *inventory.Plan) {
	for range p.Entries {
		for i := range p.Entries {
			e := &p.Entries[i]
			for _, n := range e.Needs {
				e.Depth = max(e.Depth, p.Entries[n].Depth+1)
			}
		}
	}
}

func identityOf(name string) resource.Identity {
	return resource.Identity{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// everything includes all objects.
func everything(resource.Identity) bool { return true }

// removal spells a reversed graph out: its nodes in order, each with the nodes
// that have to be gone first, "c b:c a:b,c".
func removal(g *graph.Graph[inventory.Entry]) string {
	words := make([]string, 0, g.Len())
	for _, i := range g.Order() {
		word := g.At(int(i)).Payload.Name
		var first []string
		for _, need := range g.Needs(int(i)) {
			first = append(first, g.At(int(need)).Payload.Name)
		}
		if slices.Sort(first); len(first) > 0 {
			word += ":" + strings.Join(first, ",")
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestReverseTakesDependantsDownBeforeWhatTheyNeed(t *testing.T) {
	cases := map[string]struct {
		reason  string
		plans   []string // newest first
		exclude string
		want    string
	}{
		"Chain": {
			reason: "Each object goes after all that need it.",
			plans:  []string{"a; b: a; c: b"},
			want:   "c b:c a:b",
		},
		"FanIn": {
			reason: "What several objects need goes last.",
			plans:  []string{"a; b: a; c: a"},
			want:   "b c a:b,c",
		},
		"SamePlanTwice": {
			reason: "Plans that agree are one.",
			plans:  []string{"a; b: a", "a; b: a"},
			want:   "b a:b",
		},
		"NewestDirectionWins": {
			reason: "The edge of the newest plan was followed last, so it is the one to undo.",
			plans:  []string{"a: b; b", "a; b: a"},
			want:   "a b:a",
		},
		"NewestSaysUnrelated": {
			reason: "Where the newest plan has both ends and no edge, older edges are no longer true.",
			plans:  []string{"a; b", "a; b: a"},
			want:   "a b",
		},
		"OnlyInOlderPlan": {
			reason: "An edge is kept when no newer plan knows both its ends.",
			plans:  []string{"z", "a; b: a"},
			want:   "z b a:b",
		},
		"BetweenNewestAndOlderPlan": {
			reason: "An object that the newest plan has lost still goes before what it needed.",
			plans:  []string{"a", "a; b: a"},
			want:   "b a:b",
		},
		"ChainThroughAnOlderPlan": {
			reason: "Objects of the newest plan wait for lost ones between them.",
			plans:  []string{"a; c", "a; b: a; c: b"},
			want:   "c b:c a:b",
		},
		"NewerOfTwoOlderPlansDecides": {
			reason: "Among older plans, too, the newest that has both ends decides.",
			plans:  []string{"z", "a: b; b", "a; b: a"},
			want:   "z a b:a",
		},
		"ContradictionThroughThreeObjects": {
			reason: "The older plan's way from a to c leads round by b, which the newest has lost: the newest plan's edge stays.",
			plans:  []string{"a; c: a", "c; b: c; a: b"},
			want:   "c a:c b:a",
		},
		"ThreePlansInARing": {
			reason: "Three plans that agree pair by pair and contradict each other as a whole: the newest stays.",
			plans:  []string{"a; b: a", "b; c: b", "c; a: c"},
			want:   "b a:b c:a",
		},
		"UnknownPlural": {
			reason: "Nothing of a kind without plural was written, so there is nothing to delete.",
			plans:  []string{"a; b?: a; c: b"},
			want:   "a c",
		},
		"PluralKnownToAnOlderPlan": {
			reason: "The kind was known when an older plan was written: the object may exist.",
			plans:  []string{"a; b?: a", "a; b"},
			want:   "b a:b",
		},
		"Excluded": {
			reason:  "Pruning leaves out what stays, and with it its edges.",
			plans:   []string{"a; b: a; c: b"},
			exclude: "b",
			want:    "a c",
		},
		"NoPlans": {reason: "An owner without records has nothing to take down."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var plans []*inventory.Plan
			for _, text := range tc.plans {
				plans = append(plans, planOf(t, text))
			}
			g, err := inventory.Reverse(plans, func(id resource.Identity) bool { return id.Name != tc.exclude })
			if err != nil {
				t.Fatalf("%s\nReverse() = %v", tc.reason, err)
			}
			if got := removal(g); got != tc.want {
				t.Errorf("%s\nReverse() = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestReverseKeepsTheNewestEntryOfAnObject(t *testing.T) {
	older, newest := planOf(t, "a"), planOf(t, "a")
	older.Entries[0].Version, newest.Entries[0].Version = "v1beta1", "v2"
	g, err := inventory.Reverse([]*inventory.Plan{newest, older}, everything)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(newest.Entries[0], g.At(0).Payload); diff != "" || g.Len() != 1 {
		t.Errorf("%d entries, the first -want, +got:\n%s", g.Len(), diff)
	}
}

func TestReverseSurvivesCyclesInOlderPlans(t *testing.T) {
	cases := map[string]struct {
		reason string
		older  string
		want   string
	}{
		"Two":    {reason: "Two objects that need each other: one of them goes first.", older: "x: y; y: x", want: "b a:b x y:x"},
		"Itself": {reason: "An object that needs itself can go.", older: "x: x", want: "b a:b x"},
		"Beside": {reason: "A cycle costs no edge outside it.", older: "x: y; y: x; b: x; a", want: "b a:b x:b y:x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g, err := inventory.Reverse([]*inventory.Plan{planOf(t, "a; b: a"), planOf(t, tc.older)}, everything)
			if err != nil {
				t.Fatalf("%s\nReverse() = %v", tc.reason, err)
			}
			if got := removal(g); got != tc.want {
				t.Errorf("%s\nReverse() = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
