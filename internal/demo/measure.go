package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// said is how many values of a metric are printed.
const said = 3

// families are metrics by their name.
type families map[string]*dto.MetricFamily

// measure reads the metrics as Prometheus would.
func (d *demo) measure(ctx context.Context) error {
	d.page.act("What an operator sees",
		"The manager's metrics, over TLS, for those whom the API server lets read them. docs/metrics.md has",
		"the whole list.")
	ctx, cancel := within(ctx)
	defer cancel()
	code, _, err := d.scrape(ctx, "")
	if err != nil {
		return err
	}
	if code != http.StatusUnauthorized {
		return fmt.Errorf("the metrics answer %d without a token, and not %d", code, http.StatusUnauthorized)
	}
	found, err := d.metrics(ctx)
	if err != nil {
		return err
	}
	d.page.table(
		[]string{"GET /metrics without a token", fmt.Sprint(code, " ", http.StatusText(code))},
		[]string{"GET /metrics as monitoring/prometheus", fmt.Sprint(http.StatusOK, " ", http.StatusText(http.StatusOK))},
	)
	d.page.blank()
	rows := digest(found)
	for _, row := range rows {
		if row[2] == "" {
			return fmt.Errorf("the metric %s has no value", row[0])
		}
	}
	d.page.table(rows...)
	return nil
}

// digest picks what tells most: name, what is printed of it, and that. A metric that is not
// there has no value.
func digest(f families) [][]string {
	return [][]string{
		{"truss_graph_nodes", "by state", f.counts("truss_graph_nodes", "state", "owner", bundleName)},
		{"truss_graph_run_duration_seconds", "mean", f.means("truss_graph_run_duration_seconds", "owner_kind")},
		{"truss_node_time_to_ready_seconds", "longest, mean", f.means("truss_node_time_to_ready_seconds", "kind")},
		{"truss_node_blocked_seconds", "longest, mean", f.means("truss_node_blocked_seconds", "kind")},
		{"truss_applies_total", "by operation", f.counts("truss_applies_total", "operation", "result", "ok")},
		{"truss_owner_writes_total", "by type", f.counts("truss_owner_writes_total", "type", "", "")},
	}
}

// counts adds up a counter or gauge by one label, among those whose other
// label has the value wanted; values that are 0 are left out.
func (f families) counts(name, by, other, wanted string) string {
	sums := map[string]float64{}
	for _, m := range f[name].GetMetric() {
		if other == "" || labelOf(m, other) == wanted {
			sums[labelOf(m, by)] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return say(sums, "%s %.0f")
}

// means are the averages of a histogram by one label, those below a tenth of a
// second left out.
func (f families) means(name, by string) string {
	const short = 0.1
	means := map[string]float64{}
	for _, m := range f[name].GetMetric() {
		h := m.GetHistogram()
		if mean := h.GetSampleSum() / max(float64(h.GetSampleCount()), 1); mean >= short {
			kind, _, _ := strings.Cut(labelOf(m, by), ".")
			means[kind] = mean
		}
	}
	return say(means, "%s %.1fs")
}

// say prints the largest values, the largest first.
func say(values map[string]float64, format string) string {
	var names []string
	for name, value := range values {
		if value != 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(-cmp.Compare(values[a], values[b]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf(format, name, values[name])
	}
	return strings.Join(names[:min(len(names), said)], ", ")
}

func labelOf(m *dto.Metric, name string) string {
	for _, pair := range m.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// metrics reads the metrics as an account that may.
func (d *demo) metrics(ctx context.Context) (families, error) {
	token, err := d.plane.ServiceAccountToken(ctx, "monitoring", "prometheus", tokenLifetime)
	if err != nil {
		return nil, err
	}
	code, found, err := d.scrape(ctx, token)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("the metrics answer %d to an account that may read them", code)
	}
	return found, err
}

// scrape reads the metrics with a token, or without one when it is empty.
func (d *demo) scrape(ctx context.Context, token string) (code int, found families, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.metricsURL, http.NoBody)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read the metrics: %w", err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		// A manager that is given no certificate makes its own; nobody else can
		// listen there, on this machine.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
	}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read the metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, nil, nil
	}
	found, err = parse(response.Body)
	return response.StatusCode, found, err
}

func parse(text io.Reader) (families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("cannot parse the metrics: %w", err)
	}
	return found, nil
}
