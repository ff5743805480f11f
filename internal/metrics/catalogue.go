package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// An Entry describes one metric, for documentation.
type Entry struct {
	Name string
	// Type is gauge, counter or histogram.
	Type   string
	Labels []string
	Help   string
}

// Catalogue returns a description of every metric that New registers, sorted
// by name.
func Catalogue() []Entry {
	b := &builder{reg: prometheus.NewRegistry()}
	build(b)
	slices.SortFunc(b.entries, func(x, y Entry) int { return strings.Compare(x.Name, y.Name) })
	return b.entries
}

// A builder registers metrics and keeps the descriptions it was given.
type builder struct {
	reg     prometheus.Registerer
	entries []Entry
}

func (b *builder) add(kind, name, help string, labels []string, c prometheus.Collector) {
	b.entries = append(b.entries, Entry{Name: name, Type: kind, Labels: labels, Help: help})
	b.reg.MustRegister(c)
}

func (b *builder) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	b.add("gauge", name, help, nil, g)
	return g
}

func (b *builder) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	b.add("gauge", name, help, labels, v)
	return v
}

func (b *builder) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	b.add("counter", name, help, labels, v)
	return v
}

func (b *builder) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	b.add("histogram", name, help, labels, v)
	return v
}
