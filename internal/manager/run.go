package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/truss-dev/truss/bundle/controller"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/executor"
	"github.com/truss-dev/truss/graph/executor/cluster"
	"github.com/truss-dev/truss/graph/resource"
	"github.com/truss-dev/truss/internal/metrics"
)

// shutdown is how long writes in flight may take when the manager stops.
const shutdown = 5 * time.Second

// syncTime is how long a question for readiness waits for the caches.
const syncTime = time.Second

// leaseName names the lease of the managers that serve all owners; those of
// some slots append them.
const leaseName = "truss-manager"

// Run runs a manager until the context ends or it loses its lease. Requests in
// flight are awaited for at most 5 s.
func Run(ctx context.Context, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	log := logger(o.Verbose)
	ctrl.SetLogger(log)
	cfg, err := o.config()
	if err != nil {
		return err
	}
	cfg.UserAgent = "truss/" + o.Version
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	if err := refuseTooManyRights(ctx, clients); err != nil {
		return err
	}
	key, err := macKey(ctx, clients, o.Namespace)
	if err != nil {
		return err
	}
	m, err := newManager(cfg, &o)
	if err != nil {
		return err
	}
	handle, err := cluster.New(cfg, cluster.Options{Version: o.Version})
	if err != nil {
		return err
	}
	defer handle.Close()
	meters := metrics.New(o.registry(), series(o.OwnerSeries)...)
	err = controller.Setup(m, controller.Options{
		Cluster: handle, DefaultServiceAccount: o.DefaultServiceAccount, Metrics: meters,
		Executor: executor.Options{
			Cluster: handle, Key: key, Namespace: o.Namespace, Manager: resource.ManagerCore, Slots: o.slots,
			Writes: o.Writes, OwnerWrites: o.OwnerWrites, Metrics: meters, Log: log,
		},
	})
	if err != nil {
		return fmt.Errorf("cannot set up the Bundle controller: %w", err)
	}
	return m.Start(ctx)
}

func logger(verbose bool) logr.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

func (o *Options) config() (*rest.Config, error) {
	cfg := o.Config
	if cfg == nil {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = o.Kubeconfig
		loaded, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("cannot find an API server: %w", err)
		}
		cfg = loaded
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // the API server's priority and fairness is the brake
	return cfg, nil
}

func (o *Options) registry() prometheus.Registerer {
	if o.Registry != nil {
		return o.Registry
	}
	return ctrlmetrics.Registry
}

func series(owners bool) []metrics.Option {
	if owners {
		return nil
	}
	return []metrics.Option{metrics.WithoutOwnerSeries()}
}

func newManager(cfg *rest.Config, o *Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("cannot register API types: %w", err)
	}
	selector, err := labels.Parse(resource.SlotSelector(o.slots))
	if err != nil {
		return nil, fmt.Errorf("cannot select the owners of slots %q: %w", o.Slots, err)
	}
	uncopied, grace := true, shutdown
	renew, retry := o.LeaseDuration*2/3, o.LeaseDuration*2/15
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme,
		// Owners are read-only here, and a large one costs 19 ms to copy.
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&v1.Bundle{}: {UnsafeDisableDeepCopy: &uncopied, Label: selector},
			},
		},
		Metrics: metricsserver.Options{
			BindAddress: o.MetricsAddress, SecureServing: true,
			FilterProvider: filters.WithAuthenticationAndAuthorization,
		},
		HealthProbeBindAddress:  o.HealthAddress,
		LeaderElection:          o.LeaderElect,
		LeaderElectionID:        o.lease(),
		LeaderElectionNamespace: o.Namespace,
		// The process ends with Run, so that the lease may go at once.
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &o.LeaseDuration,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
		GracefulShutdownTimeout:       &grace,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make the manager: %w", err)
	}
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return m, m.AddReadyzCheck("owners", func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), syncTime)
		defer cancel()
		if !m.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the cache of owners is not synced yet")
		}
		return nil
	})
}
