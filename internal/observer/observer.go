package observer

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// tick is how often something is looked at that tells nobody when it changes.
const tick = 5 * time.Millisecond

// Observer follows one control plane. Its methods may be called concurrently.
type Observer struct {
	options   Options
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	discovery *discovery.DiscoveryClient

	ctx     context.Context //nolint:containedctx // the life of the watches, which come and go
	stop    context.CancelFunc
	running sync.WaitGroup

	// settling lets one Settle after the other.
	settling sync.Mutex

	// history.mu guards the rest too.
	history *history
	log     *auditLog
	watches map[schema.GroupResource]*following
	// begin and settled are lines of the log: what lies between is judged.
	begin, settled int
}

// Start observes a control plane until the context ends or Stop is called. It
// returns when all kinds are watched: what Truss does from then on is judged.
// Of what was before, it knows from the log who made which object.
func Start(ctx context.Context, options Options) (*Observer, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	o, err := connect(options)
	if err != nil {
		return nil, err
	}
	o.ctx, o.stop = context.WithCancel(ctx)
	if err := o.begins(ctx); err != nil {
		o.Stop()
		return nil, err
	}
	return o, nil
}

func connect(options Options) (*Observer, error) {
	config := rest.CopyConfig(options.Config)
	config.QPS = -1
	config.UserAgent = "truss-observer"
	config.WarningHandler = rest.NoWarnings{} // it looks at deprecated kinds too
	// client-go shares a connection between equal configurations, and a dialer
	// makes them differ.
	config.Dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	users := map[string]bool{}
	for _, u := range options.Users {
		users[u] = true
	}
	o := &Observer{
		options: options, history: newHistory(), log: &auditLog{path: options.AuditLog, users: users},
		watches: map[schema.GroupResource]*following{},
	}
	var err error
	if o.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("cannot make a client to observe with: %w", err)
	}
	if o.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("cannot make a client to observe with: %w", err)
	}
	if o.discovery, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return nil, fmt.Errorf("cannot make a client to observe with: %w", err)
	}
	return o, nil
}

// begins opens the watches, the definitions' first, and marks where judging
// begins.
func (o *Observer) begins(ctx context.Context) error {
	kinds := o.options.Kinds
	if len(kinds) == 0 {
		found, err := discover(o.discovery)
		if err != nil {
			return err
		}
		kinds = found
	}
	o.followAll(definitions)
	if err := o.synced(ctx); err != nil {
		return err
	}
	o.followAll(append(always(), kinds...)...)
	if err := o.synced(ctx); err != nil {
		return err
	}
	line, err := o.mark(ctx)
	if err != nil {
		return err
	}
	o.history.mu.Lock()
	defer o.history.mu.Unlock()
	o.begin, o.settled = line, line
	return nil
}

func (o *Observer) followAll(kinds ...schema.GroupVersionResource) {
	o.history.mu.Lock()
	defer o.history.mu.Unlock()
	for _, k := range kinds {
		o.follow(k)
	}
}

// synced waits until every kind was listed.
func (o *Observer) synced(ctx context.Context) error {
	err := o.until(ctx, func() (bool, error) {
		for _, w := range o.watches {
			if !w.synced {
				return false, nil
			}
		}
		return true, nil
	})
	if err == nil {
		return nil
	}
	o.history.mu.Lock()
	defer o.history.mu.Unlock()
	var missing []string
	for gr, w := range o.watches {
		if !w.synced {
			missing = append(missing, gr.String())
		}
	}
	slices.Sort(missing)
	return fmt.Errorf("cannot list %s: %w", strings.Join(missing, ", "), err)
}

// until asks again and again, under the lock.
func (o *Observer) until(ctx context.Context, done func() (bool, error)) error {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		o.history.mu.Lock()
		is, err := done()
		o.history.mu.Unlock()
		if is || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-o.ctx.Done():
			return fmt.Errorf("the observer was stopped: %w", context.Cause(o.ctx))
		case <-t.C:
		}
	}
}

// Stop ends all watches. What was settled can still be judged.
func (o *Observer) Stop() {
	o.stop()
	o.running.Wait()
}
