// Package controlplane starts and stops a real Kubernetes control plane on the
// loopback interface: for tests, which run against it, and for `truss local`,
// which gives it to people.
//
//	bin/local/{etcd,kube-*,kwok}      deploy/local builds them
//	        |
//	Start --+--> DIR/pki, DIR/kubeconfig, DIR/etc/*      (certs, kubeconfig, audit)
//	        +--> etcd -> kube-apiserver -> controller-manager, scheduler, kwok
//	        |         one Component each (components.go), one process each
//	        |         (process.go), one log each (DIR/logs/NAME.log)
//	        +--> RBAC, KWOK's Stage kind, stages and nodes through the API
//	        +--> DIR/state.json: ports, pids, births           (state.go)
//	        v
//	     *Plane: Status, Kill, Restart, Stop, AdminConfig, ServiceAccountConfig
//
// A directory is a plane: Start on one that was used before keeps its
// certificates, ports and data, leaves alone what still runs and starts what
// does not, and Open finds the plane that another process left running.
//
// KWOK's Stages play kubelets, and outside controllers for any kind: they may
// be applied at any time, before or after the kind they are for, and those in
// DIR/stages/*.yaml are applied by Start. A stage for a new kind plays about
// two seconds after the kind is served.
//
// Nothing runs as system:masters. The audit log (audit.go) is written in
// blocking mode, so that an observer of it misses nothing.
package controlplane
