package manager

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/truss-dev/truss/graph/resource"
)

// namespaceFile is where a pod finds its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Options are the settings of a manager.
type Options struct {
	// Kubeconfig is a file; empty means the pod's own account, or what
	// kubectl would use.
	Kubeconfig string
	// Namespace of the controller: leases, the MAC key and the inventory of
	// cluster-scoped owners.
	Namespace string
	// DefaultServiceAccount writes the objects of owners that name none; empty
	// means the manager itself.
	DefaultServiceAccount string
	// Slots are the slots of owners that this manager serves, such as 0-31;
	// empty means all. Managers of different slots have leases of their own.
	Slots string
	// LeaderElect makes sure that one of several managers acts.
	LeaderElect   bool
	LeaseDuration time.Duration
	// MetricsAddress and HealthAddress are host:port; "0" switches off.
	MetricsAddress, HealthAddress string
	// OwnerSeries keeps a metric series per owner.
	OwnerSeries bool
	// Writes and OwnerWrites bound requests in flight; 0 means the default.
	Writes, OwnerWrites int
	// Verbose logs more than what an operator needs.
	Verbose bool
	// Version is shown in the user agent.
	Version string

	// Config is used instead of Kubeconfig when it is set.
	Config *rest.Config
	// Registry takes the metrics; the one that is served by default.
	Registry prometheus.Registerer

	slots []int
}

// AddFlags adds the flags to a set, with their defaults.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig file; default: the pod's own service account, or what kubectl uses")
	f.StringVar(&o.Namespace, "namespace", "", "namespace of the controller; default: the pod's own, or truss-system")
	f.StringVar(&o.DefaultServiceAccount, "default-service-account", "", "service account that writes the objects of Bundles that name none; default: the manager itself")
	f.StringVar(&o.Slots, "slots", "", "slots of owners to serve, such as 0-31 of 0 to 63; default all. Several managers can share the load by slots")
	f.BoolVar(&o.LeaderElect, "leader-elect", true, "act only while holding the lease")
	f.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long a lease is good without renewal")
	f.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8443", "address of the metrics over TLS; 0 switches them off")
	f.StringVar(&o.HealthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 switches them off")
	f.BoolVar(&o.OwnerSeries, "metrics-owner-series", true, "keep a metric series per owner and state")
	f.IntVar(&o.Writes, "max-writes", 0, "writes in flight for all owners together (default 128)")
	f.IntVar(&o.OwnerWrites, "max-owner-writes", 0, "writes in flight for one owner (default 32)")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "log details")
}

// complete fills in what the environment says and checks the rest.
func (o *Options) complete() error {
	if o.Namespace == "" {
		o.Namespace = ownNamespace()
	}
	if o.Writes < 0 || o.OwnerWrites < 0 {
		return errors.New("cannot run with a negative limit: give --max-writes and --max-owner-writes a positive number")
	}
	if o.LeaderElect && o.LeaseDuration < time.Second {
		return fmt.Errorf("cannot elect a leader with a lease of %s: give --leader-elect-lease-duration a second at least", o.LeaseDuration)
	}
	slots, err := resource.ParseSlots(o.Slots)
	o.slots = slots
	return err
}

// lease names the lease of the managers that serve the same slots.
func (o *Options) lease() string {
	if len(o.slots) == 0 {
		return leaseName
	}
	return leaseName + "-" + strings.ReplaceAll(o.Slots, ",", "-")
}

func ownNamespace() string {
	if content, err := os.ReadFile(namespaceFile); err == nil {
		if name := strings.TrimSpace(string(content)); name != "" {
			return name
		}
	}
	return "truss-system"
}
