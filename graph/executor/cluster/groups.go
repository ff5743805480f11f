package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupsEntry is the list of API groups with the version each prefers.
type groupsEntry struct {
	mu       sync.Mutex
	loaded   bool
	err      error
	versions map[string]string
	retryAt  time.Time
	interval time.Duration
}

// preferred returns the version a group prefers. It costs one or two requests
// per invalidation, whatever the number of groups.
func (m *mapper) preferred(gk schema.GroupKind) (string, error) {
	g := m.groupsEntry()
	g.mu.Lock()
	defer g.mu.Unlock()
	if version, ok := g.versions[gk.Group]; ok {
		return version, nil
	}
	if !g.loaded || !m.clock.Now().Before(g.retryAt) {
		g.load(m)
	}
	if version, ok := g.versions[gk.Group]; ok {
		return version, nil
	}
	if g.err != nil {
		return "", fmt.Errorf("cannot discover the versions of group %q: %w", gk.Group, g.err)
	}
	return "", &meta.NoKindMatchError{GroupKind: gk}
}

func (m *mapper) groupsEntry() *groupsEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups == nil {
		m.groups = &groupsEntry{}
	}
	return m.groups
}

func (g *groupsEntry) load(m *mapper) {
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	list, err := m.disco.ServerGroupsWithContext(ctx)
	g.loaded, g.err = true, err
	g.interval = min(max(2*g.interval, missBackoffInit), missBackoffMax)
	g.retryAt = m.clock.Now().Add(g.interval)
	if err != nil {
		return
	}
	g.versions = make(map[string]string, len(list.Groups))
	for i := range list.Groups {
		g.versions[list.Groups[i].Name] = list.Groups[i].PreferredVersion.Version
	}
}
