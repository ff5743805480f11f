package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/truss-dev/truss/bench/report"
	"github.com/truss-dev/truss/bench/rig"
	"github.com/truss-dev/truss/bench/shape"
	"github.com/truss-dev/truss/bench/stats"
	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/resource"
)

// A restart may take as long as restartFactor informer syncs and restartSlack.
const (
	restartFactor = 3
	restartSlack  = 2.0
)

// settled measures what a Bundle of n ConfigMaps costs when nothing happens, for
// a quiet window, and when the manager is killed and comes back.
func (s *suite) settled(ctx context.Context, n int, quiet time.Duration) ([]report.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	body, err := json.Marshal(shape.Wide(n, 1))
	if err != nil {
		return nil, fmt.Errorf("cannot encode a Bundle: %w", err)
	}
	namespace, err := s.rig.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	watch, err := s.rig.Watch(ctx, v1.BundleGVR, namespace, "")
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	owner, err := s.rig.Submit(ctx, v1.BundleGVR, namespace, body)
	if err != nil {
		return nil, err
	}
	if _, err := watch.Until(ctx, "Ready", (*rig.Seen).Ready); err != nil {
		return nil, err
	}
	rows, err := s.quiet(ctx, n, quiet)
	if err != nil {
		return rows, err
	}
	restarts, err := s.restarts(ctx, n)
	rows = append(rows, restarts...)
	if err != nil {
		return rows, err
	}
	return rows, s.retire(ctx, owner, watch)
}

// quiet counts requests, in all namespaces, while nothing happens.
func (s *suite) quiet(ctx context.Context, n int, window time.Duration) ([]report.Row, error) {
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	mark, err := s.rig.Mark()
	if err != nil {
		return nil, err
	}
	if err := rig.Pause(ctx, window); err != nil {
		return nil, err
	}
	counts, err := s.rig.Since(mark, "")
	if err != nil {
		return nil, err
	}
	return []report.Row{
		{
			Measure: fmt.Sprintf("settled %d: writes in %s", n, window), Target: "0",
			Result: float64(counts.Writes()), Detail: counts.String(),
		},
		{
			Measure: fmt.Sprintf("settled %d: reads in %s", n, window), Target: "0",
			Result: float64(counts.Reads()), Detail: "watches and leases are not counted",
		},
	}, nil
}

// restarts kills the manager and starts it again, in pairs with a sync of
// informers over the same objects.
func (s *suite) restarts(ctx context.Context, n int) ([]report.Row, error) {
	samples := map[string][]float64{}
	var limits []float64
	all := rig.Counts{}
	for range s.o.pairs {
		if err := s.rest(ctx); err != nil {
			return nil, err
		}
		sync, err := s.informers(ctx)
		if err != nil {
			return nil, err
		}
		took, counts, err := s.restart(ctx, n)
		if err != nil {
			return nil, err
		}
		samples["restart"], samples["informers"] = append(samples["restart"], took), append(samples["informers"], sync)
		limits = append(limits, restartFactor*sync+restartSlack)
		for sort, c := range counts {
			all[sort] += c
		}
	}
	limit := stats.Median(limits)
	return []report.Row{
		{
			Measure: fmt.Sprintf("settled %d: writes after %d restarts", n, s.o.pairs), Target: "0",
			Result: float64(all.Writes()), Detail: all.String(),
		},
		{
			Measure: fmt.Sprintf("settled %d: restart to settled", n), Target: "<= 3 x informers + 2 s", Limit: limit,
			Result: stats.Median(samples["restart"]), Unit: "s", Samples: samples,
			Detail: fmt.Sprintf("from the start of the process; limit %s s, an informer sync takes %s s",
				report.Digits(limit), report.Digits(stats.Median(samples["informers"]))),
		},
	}, nil
}

// restart gives the seconds from the start of a new process until it reports n
// nodes Ready, and what it asked until it was at rest.
func (s *suite) restart(ctx context.Context, n int) (float64, rig.Counts, error) {
	if err := s.rig.KillManager(); err != nil {
		return 0, nil, err
	}
	if err := s.rest(ctx); err != nil {
		return 0, nil, err
	}
	mark, err := s.rig.Mark()
	if err != nil {
		return 0, nil, err
	}
	began := time.Now()
	if err := s.rig.StartManager(ctx); err != nil {
		return 0, nil, err
	}
	if err := s.rig.Settled(ctx, n); err != nil {
		return 0, nil, err
	}
	took := time.Since(began).Seconds()
	if err := s.rest(ctx); err != nil {
		return 0, nil, err
	}
	counts, err := s.rig.Since(mark, "")
	return took, counts, err
}

// informers gives the seconds that client-go's informers take to hold the same
// objects, as any controller would at its start.
func (s *suite) informers(ctx context.Context) (float64, error) {
	config, err := s.rig.ManagerConfig(ctx)
	if err != nil {
		return 0, err
	}
	client, err := dynamic.NewForConfig(rig.Apart(config))
	if err != nil {
		return 0, fmt.Errorf("cannot make a client: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	children := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, metav1.NamespaceAll, func(o *metav1.ListOptions) {
		o.LabelSelector = resource.ManagerLabel + "=" + resource.ManagerCore
	})
	owners := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	defer owners.Shutdown()
	defer children.Shutdown()
	defer cancel()
	began := time.Now()
	informers := []cache.SharedIndexInformer{
		children.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Informer(),
		owners.ForResource(v1.BundleGVR).Informer(),
	}
	children.Start(ctx.Done())
	owners.Start(ctx.Done())
	for _, i := range informers {
		for !i.HasSynced() { // client-go's own wait looks ten times a second only
			if err := rig.Pause(ctx, time.Millisecond); err != nil {
				return 0, fmt.Errorf("cannot sync informers: %w", err)
			}
		}
	}
	return time.Since(began).Seconds(), nil
}
