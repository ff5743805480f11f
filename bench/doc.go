// Command bench measures how close Truss comes to what the API server lets any
// client do: make bench, make bench-quick.
//
//	rig: control plane, manager process, external watcher, audit log
//	      |
//	      +-- ready.go     Bundle to Ready against the raw client (bench/raw), in pairs
//	      +-- settled.go   a quiet window, and a restart after SIGKILL
//	      +-- requests.go  requests per child, from the audit log
//	      +-- touch.go     one change in a large graph to its dependant's write
//	      v
//	bench/report: table on the terminal, bench/out/results.json, exit code
//
// A measure is an entry of measures (suite.go): a name for -run, and a function
// that gives rows. The same binary is the manager, as `bench manager`, so that
// nothing has to be built before. docs/performance.md explains the numbers.
package main
