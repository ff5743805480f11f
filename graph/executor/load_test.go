package executor

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/truss-dev/truss/graph"
	"github.com/truss-dev/truss/graph/resource"
)

func (h *host) manyMaps(n int, prefix string) []graph.Node[resource.Node] {
	out := make([]graph.Node[resource.Node], n)
	for i := range out {
		out[i] = h.configMap(fmt.Sprintf("%s%03d", prefix, i), "v")
	}
	return out
}

// gauge counts requests in flight.
type gauge struct {
	mu        sync.Mutex
	now, most int
}

func (c *gauge) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += n
	c.most = max(c.most, c.now)
}

func TestAWideGraphUsesItsShareOfWritesAndNoMore(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t, func(o *Options) { o.OwnerWrites = 8 })
	o := h.owner("o")
	flights := &gauge{}
	full := make(chan struct{})
	h.traffic.hold(func(line string) {
		if line != "create configmaps" {
			return
		}
		flights.add(1)
		defer flights.add(-1)
		flights.mu.Lock()
		if flights.now == 8 {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		flights.mu.Unlock()
		<-full // the first ones wait for each other: the whole share is in use
	})
	o.want(h.manyMaps(300, "m")...)
	g.Eventually(o.ready, patience, glance).Should(BeTrue())
	g.Expect(flights.most).To(Equal(8))
	g.Expect(h.traffic.take("create")).To(HaveLen(301))
	o.mu.Lock()
	defer o.mu.Unlock()
	g.Expect(o.turns).To(BeNumerically(">=", 2), "300 writes are more than one turn")
}

func TestAPoisonedOwnerSlowsNobodyDown(t *testing.T) {
	g := NewWithT(t)
	h := newHost(t, func(o *Options) { o.Writes, o.OwnerWrites = 8, 4 })
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	poisoned := make(chan struct{}, 60)
	h.traffic.hold(func(line string) {
		if strings.HasPrefix(line, "create secrets") {
			poisoned <- struct{}{}
			<-stuck
		}
	})
	bad := h.owner("bad")
	nodes := make([]graph.Node[resource.Node], 60)
	for i := range nodes {
		nodes[i] = h.node(fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: p%d}}", i))
	}
	bad.want(nodes...)
	for range 4 {
		<-poisoned
	}
	good := h.owner("good")
	good.want(h.manyMaps(40, "m")...)
	g.Eventually(good.ready, patience, glance).Should(BeTrue(), "the API server answers nothing of another owner's")
	bad.want()
}
