package rig

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// Intervals at which things are looked at that no watch tells of.
const (
	scrapeEvery = 20 * time.Millisecond
	lookEvery   = 25 * time.Millisecond
)

// scrape reads the manager's metrics as an account that may.
type scrape struct {
	client *http.Client
	token  string
}

// Settled waits until the manager reports n nodes Ready, all owners together:
// it knows what exists and found that nothing is to be done. While the manager
// does not answer it goes on asking. Exact to 20 ms.
func (r *Rig) Settled(ctx context.Context, n int) error {
	if err := r.scraper(ctx); err != nil {
		return err
	}
	var seen int
	err := every(ctx, scrapeEvery, func() bool {
		var err error
		seen, err = r.readyNodes(ctx)
		return err == nil && seen == n
	})
	if err != nil {
		return fmt.Errorf("cannot wait for %d settled nodes, the manager reports %d: %w", n, seen, err)
	}
	return nil
}

// scraper makes the client on its first use. The manager makes a certificate of
// its own at each start, which nobody knows.
func (r *Rig) scraper(ctx context.Context) error {
	if r.scrape != nil {
		return nil
	}
	token, err := r.Plane.ServiceAccountToken(ctx, system, scraper, tokenLifetime)
	if err != nil {
		return err
	}
	r.scrape = &scrape{token: token, client: &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}}
	return nil
}

var readySeries = regexp.MustCompile(`(?m)^truss_graph_nodes\{[^}]*state="Ready"[^}]*\} ([0-9.e+]+)$`)

func (r *Rig) readyNodes(ctx context.Context) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.addr.metrics+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+r.scrape.token)
	res, err := r.scrape.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("cannot read the manager's metrics: %s: %w", res.Status, err)
	}
	sum := 0
	for _, m := range readySeries.FindAllSubmatch(text, -1) {
		n, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return 0, err
		}
		sum += int(n)
	}
	return sum, nil
}

// every calls done until it says so or the context ends.
func every(ctx context.Context, interval time.Duration, done func() bool) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// Pause waits, unless the context ends first.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
