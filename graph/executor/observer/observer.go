package observer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/truss-dev/truss/graph/executor/cluster"
)

// DefaultManager is the field manager of all that Truss writes.
const DefaultManager = "truss"

const defaultIdleTimeout = 5 * time.Minute

// Options are the settings of an Observer. The zero value is good.
type Options struct {
	// Manager is our field manager; DefaultManager by default.
	Manager string
	// Handler is told of every change of every store. It must not block.
	Handler func(Event)
	// IdleTimeout is how long a store outlives its last user; 5 minutes by
	// default.
	IdleTimeout time.Duration
	// Clock is the real clock by default.
	Clock clock.WithTickerAndDelayedExecution
	// Log is silent by default.
	Log logr.Logger
}

// Observer owns the stores of one cluster. Safe for concurrent use.
type Observer struct {
	cluster   *cluster.Cluster
	clock     clock.WithTickerAndDelayedExecution
	log       logr.Logger
	idleAfter time.Duration
	handler   func(Event)
	transform *transformer

	mu        sync.Mutex
	spawn     func(*Store) // set by Run: starts a reflector
	stores    map[Key]*Store
	listeners []func(Event)
	tasks     []func(context.Context)
	running   sync.WaitGroup
}

// New makes an observer of c. Nothing is watched before Run.
func New(c *cluster.Cluster, o Options) *Observer {
	if o.Manager == "" {
		o.Manager = DefaultManager
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = defaultIdleTimeout
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
	return &Observer{
		cluster:   c,
		clock:     o.Clock,
		log:       o.Log,
		idleAfter: o.IdleTimeout,
		handler:   o.Handler,
		transform: &transformer{manager: o.Manager, fields: newFieldTable(), strings: newStringTable()},
		stores:    map[Key]*Store{},
	}
}

// Run watches until ctx is done and returns when every goroutine of the
// observer has ended. Stores that were acquired before start then; a second Run
// is an error.
func (o *Observer) Run(ctx context.Context) error {
	if err := o.begin(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	o.mu.Lock()
	for _, s := range o.stores {
		s.stopIdle()
	}
	o.mu.Unlock()
	o.running.Wait()
	return nil
}

func (o *Observer) begin(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spawn != nil {
		return errors.New("cannot run an observer twice")
	}
	o.spawn = func(s *Store) { o.start(ctx, s) }
	for _, s := range o.stores {
		o.spawn(s)
	}
	for _, task := range o.tasks {
		o.running.Go(func() { task(ctx) })
	}
	return nil
}

// Acquire returns the store of a key and counts the caller as its user until
// Release. The watch is started if there is none. Acquire never waits: a store
// is usable at once, and an Event with Synced follows when it has its objects.
func (o *Observer) Acquire(k Key) *Store {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.stores[k]
	if !ok {
		s = newStore(k, o)
		o.stores[k] = s
		if o.spawn != nil {
			o.spawn(s)
		}
	}
	s.users++
	s.stopIdle()
	return s
}

// start runs the reflector of a store. The observer's mutex is held.
func (o *Observer) start(ctx context.Context, s *Store) {
	if ctx.Err() != nil || s.invalid() {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	o.running.Go(func() {
		defer cancel()
		o.feed(ctx, s)
	})
}

func (o *Observer) feed(ctx context.Context, s *Store) {
	client, err := o.cluster.Client(s.key.Account)
	if err != nil {
		s.fail(err)
		return
	}
	r := &runner{store: s, source: newSource(client, s.key)}
	r.run(ctx)
}

// release counts a user off and starts the idle timer at the last one.
func (o *Observer) release(s *Store) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.users == 0 {
		return
	}
	s.users--
	if s.users > 0 {
		return
	}
	s.stopIdle()
	spell := s.spell
	s.idle = o.clock.AfterFunc(o.idleAfter, func() { o.expire(s, spell) })
}

// expire ends the watch of a store that is still unused. A timer that fired
// while the store was acquired again is not the store's any more.
func (o *Observer) expire(s *Store, spell uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.users > 0 || s.spell != spell || o.stores[s.key] != s {
		return
	}
	delete(o.stores, s.key)
	s.idle = nil
	if s.cancel != nil {
		s.cancel()
	}
}

// stopIdle ends an idle spell. The observer's mutex is held.
func (s *Store) stopIdle() {
	s.spell++
	if s.idle != nil {
		s.idle.Stop()
		s.idle = nil
	}
}

// Kick lets the stores of a resource retry at once if they wait after an error,
// because the resource may be served now.
func (o *Observer) Kick(r schema.GroupVersionResource) {
	o.kick(func(k Key) bool { return k.Resource == r })
}

// KickGroup does the same for all resources of an API group.
func (o *Observer) KickGroup(group string) {
	o.kick(func(k Key) bool { return k.Resource.Group == group })
}

// kick leaves a token for stores that are not well, also for those whose request
// is under way and may still fail.
func (o *Observer) kick(match func(Key) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for k, s := range o.stores {
		if !match(k) {
			continue
		}
		if synced, err := s.Status(); synced && err == nil {
			continue
		}
		select {
		case s.kick <- struct{}{}:
		default:
		}
	}
}

// Sizes returns how many stores are open and how many objects they hold.
func (o *Observer) Sizes() (stores, objects int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.stores {
		objects += s.Len()
	}
	return len(o.stores), objects
}

// attach adds a handler inside the package and what Run runs for it. Only before
// Run: afterwards the handlers are read without the mutex.
func (o *Observer) attach(h func(Event), task func(context.Context)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listeners = append(o.listeners, h)
	o.tasks = append(o.tasks, task)
}

func (o *Observer) tell(e Event) {
	for _, l := range o.listeners {
		l(e)
	}
	if o.handler != nil {
		o.handler(e)
	}
}

// kindOf returns the kind of a resource as far as it was discovered before; the
// group and version alone if it was not.
func (o *Observer) kindOf(r schema.GroupVersionResource) schema.GroupVersionKind {
	if kind, ok := o.cluster.KindFor(r); ok {
		return kind
	}
	return r.GroupVersion().WithKind("")
}
