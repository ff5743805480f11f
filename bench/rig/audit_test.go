package rig

import (
	"strings"
	"testing"
)

func TestOnlyRequestsThatCostSomethingAreCounted(t *testing.T) {
	const (
		truss  = `{"verb":"create","userAgent":"truss/v1","objectRef":{"namespace":"a","resource":"configmaps","name":"c"},"requestURI":"/api/v1/namespaces/a/configmaps"}`
		status = `{"verb":"patch","userAgent":"truss/v1","objectRef":{"namespace":"a","resource":"bundles","subresource":"status","name":"b"}}`
		list   = `{"verb":"list","userAgent":"truss/v1","objectRef":{"resource":"configmaps"},"requestURI":"/api/v1/configmaps?labelSelector=x"}`
		watch  = `{"verb":"watch","userAgent":"truss/v1","objectRef":{"resource":"configmaps"},"requestURI":"/api/v1/configmaps?watch=true"}`
		lease  = `{"verb":"update","userAgent":"truss/v1","objectRef":{"namespace":"a","resource":"leases"}}`
		review = `{"verb":"create","userAgent":"truss/v1","objectRef":{"resource":"tokenreviews"}}`
		other  = `{"verb":"create","userAgent":"truss-bench","objectRef":{"namespace":"a","resource":"configmaps"}}`
		root   = `{"verb":"get","userAgent":"truss/v1","requestURI":"/apis?timeout=32s"}`
	)
	for name, c := range map[string]struct {
		lines         []string
		namespace     string
		want          string
		reads, writes int
		reason        string
	}{
		"writes":     {[]string{truss, truss, status}, "", "1 patch bundles/status, 2 create configmaps", 0, 3, "by sort, not by name"},
		"aside":      {[]string{watch, lease, review}, "", "", 0, 0, "watches and leases are what a settled Truss may do, reviews are the scraper's"},
		"others":     {[]string{other}, "", "", 0, 0, "the baseline has the same account and another user agent"},
		"reads":      {[]string{list, root}, "", "1 get /apis, 1 list configmaps", 2, 0, "of resources and of the API itself"},
		"namespaced": {[]string{truss, list}, "a", "1 create configmaps", 0, 1, "another Bundle's requests are not this one's"},
		"elsewhere":  {[]string{truss}, "b", "", 0, 0, "nothing happened there"},
		"cut short":  {[]string{truss, truss[:20]}, "", "1 create configmaps", 0, 1, "a line that is being written was not answered"},
	} {
		t.Run(name, func(t *testing.T) {
			log := strings.Join(c.lines, "\n")
			if name != "cut short" {
				log += "\n"
			}
			got, err := count(strings.NewReader(log), c.namespace)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want || got.Reads() != c.reads || got.Writes() != c.writes {
				t.Errorf("%q with %d reads and %d writes, want %q, %d, %d: %s",
					got, got.Reads(), got.Writes(), c.want, c.reads, c.writes, c.reason)
			}
		})
	}
	if _, err := count(strings.NewReader("no JSON\n"), ""); err == nil {
		t.Error("a log that cannot be read passes as quiet")
	}
}

func TestResourcesIncludeTheirSubresourcesOnly(t *testing.T) {
	c := Counts{"patch bundles": 1, "patch bundles/status": 2, "list bundlesets": 4}
	if got := c.Of("bundles"); got != 3 {
		t.Errorf("Of(bundles) = %d, want 3", got)
	}
}
