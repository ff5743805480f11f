package graph_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/truss-dev/truss/graph"
)

func ExampleNew() {
	g, err := graph.New([]graph.Node[string]{
		{ID: "web", Payload: "Deployment", Needs: []graph.Need{{ID: "database"}, {ID: "settings", Reason: graph.Referenced}}},
		{ID: "database", Payload: "StatefulSet"},
		{ID: "settings", Payload: "ConfigMap"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range g.Order() {
		fmt.Println(g.At(int(i)).Payload, g.At(int(i)).ID)
	}
	// Output:
	// StatefulSet database
	// ConfigMap settings
	// Deployment web
}

func ExampleNew_errors() {
	_, err := graph.New([]graph.Node[string]{
		{ID: "a", Needs: []graph.Need{{ID: "b"}}},
		{ID: "b", Needs: []graph.Need{{ID: "a"}, {ID: "c"}}},
	})
	fmt.Println(err)
	if cycle, ok := errors.AsType[*graph.CycleError](err); ok {
		fmt.Println(cycle.Path)
	}
	// Output:
	// cannot resolve need "c" of node "b": no such node
	// cannot order nodes, they need each other: a -> b -> a
	// [a b a]
}

func ExampleRun() {
	g, err := graph.New([]graph.Node[string]{
		{ID: "database"},
		{ID: "web", Needs: []graph.Need{{ID: "database"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := graph.NewRun(g)
	database, _ := r.Next()
	r.Set(database, graph.Outcome{State: graph.InProgress})
	web, _ := g.Index("web")
	fmt.Println(r.State(web), r.BlockedBy(web))

	r.Touch(database) // its object changed
	database, _ = r.Next()
	r.Set(database, graph.Outcome{State: graph.Ready})
	for _, change := range r.Drain() {
		fmt.Println(g.At(change.Index).ID, change.From, change.To)
	}
	// Output:
	// Blocked [database]
	// database InProgress Ready
	// web Blocked InProgress
}

func ExampleView_WriteMermaid() {
	g, err := graph.New([]graph.Node[string]{
		{ID: "database"},
		{ID: "web", Needs: []graph.Need{{ID: "database", Reason: graph.Referenced}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := g.View().WriteMermaid(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// flowchart LR
	//   n0["database"]
	//   n1["web"]
	//   n0 -->|referenced| n1
	//   classDef critical stroke:#c0392b,stroke-width:3px
	//   class n0,n1 critical
	//   linkStyle 0 stroke:#c0392b,stroke-width:3px
}
