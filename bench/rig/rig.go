package rig

import (
	"bytes"
	"context"
	_ "embed" // for the manifests
	"errors"
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/deploy"
	"github.com/truss-dev/truss/internal/controlplane"
)

//go:embed rights.yaml
var rights []byte

//go:embed audit-policy.yaml
var auditPolicy []byte

// TwinGroup is the API group of the baseline's owners. It is as long as that of
// Bundles, so that requests and stored objects have the same sizes.
const TwinGroup = "bench.truss-dev.com"

// TwinGVR is the baseline's kind of owner.
var TwinGVR = schema.GroupVersionResource{Group: TwinGroup, Version: v1.Version, Resource: v1.BundlePlural}

// Account of the manager, and the namespace it lives in.
const (
	system  = "truss-system"
	account = "truss-manager"
	scraper = "truss-bench"
)

// Options say what Start starts.
type Options struct {
	// Dir holds the plane's files. Required.
	Dir string
	// Manager is the command that runs a manager; flags are added. Empty runs
	// it in this process, for profiles.
	Manager []string
	// Progress is told what is being waited for; may be nil.
	Progress func(line string)
}

// Rig is a plane with a manager and the instruments. Its methods must not be
// called concurrently unless they say so.
type Rig struct {
	Plane   *controlplane.Plane
	admin   dynamic.Interface
	core    kubernetes.Interface
	owner   rest.Interface // as a user who owns Bundles
	watches rest.Interface // the external watcher's own connection
	command []string
	inside  *inside
	addr    addresses
	scrape  *scrape
}

// Start starts a control plane with Truss's CRDs, its rights and the twin kind,
// but no manager. It takes about 5 s on two idle cores.
func Start(ctx context.Context, o Options) (*Rig, error) {
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: o.Dir, AuditPolicy: auditPolicy, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	r := &Rig{Plane: plane, command: o.Manager}
	if err := errors.Join(r.install(ctx), r.connect()); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return r, nil
}

// Close stops the manager and the plane. The directory stays.
func (r *Rig) Close() error {
	return errors.Join(r.stopInside(), r.Plane.Stop())
}

// install applies what a cluster needs and the twin kind.
func (r *Rig) install(ctx context.Context) error {
	crds, err := deploy.CRDs()
	if err != nil {
		return err
	}
	manifests := append([][]byte{}, crds...)
	for _, crd := range crds {
		if bytes.Contains(crd, []byte("name: "+v1.BundlePlural+"."+v1.Group)) {
			manifests = append(manifests, bytes.ReplaceAll(crd, []byte(v1.Group), []byte(TwinGroup)))
		}
	}
	if len(manifests) != len(crds)+1 {
		return errors.New("cannot make the twin kind: the CRD of Bundles is not among the embedded ones")
	}
	return r.Plane.Apply(ctx, append(manifests, deploy.LocalManifests(), rights)...)
}

func (r *Rig) connect() (err error) {
	if r.admin, err = dynamic.NewForConfig(r.Plane.AdminConfig()); err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	if r.core, err = kubernetes.NewForConfig(r.Plane.AdminConfig()); err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	if r.owner, err = plain(Apart(r.Plane.AdminConfig())); err != nil {
		return err
	}
	r.watches, err = plain(Apart(r.Plane.AdminConfig()))
	return err
}

// plain gives a client that sends and receives bytes.
func plain(c *rest.Config) (rest.Interface, error) {
	core, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return core.CoreV1().RESTClient(), nil
}

// Apart gives c connections of its own: client-go shares one between equal
// configurations, and HTTP/2 would put all requests on it.
func Apart(c *rest.Config) *rest.Config {
	c = rest.CopyConfig(c)
	c.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	return c
}

// ManagerConfig gives a fresh configuration that acts as the manager's account,
// with its rights and its share of the API server, under another user agent.
func (r *Rig) ManagerConfig(ctx context.Context) (*rest.Config, error) {
	c, err := r.Plane.ServiceAccountConfig(ctx, system, account)
	if err != nil {
		return nil, err
	}
	c.UserAgent = "truss-bench"
	return c, nil
}
