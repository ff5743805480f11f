// Package demo holds the objects of the demonstration, for people to read and
// for `make demo` (internal/demo) to apply:
//
//	Kinds -----------> CRDs whose annotations say when their objects are Ready
//	Controllers -----> KWOK Stages that play the controllers of those kinds
//	MetricsReader ---> the account that reads the manager's metrics
//	Bundle ----------> what it is all about
//
// The files are written to be read; the package only embeds them.
package demo

import _ "embed" // for the manifests

var (
	//go:embed kinds.yaml
	kinds []byte
	//go:embed controllers.yaml
	controllers []byte
	//go:embed metrics-reader.yaml
	metricsReader []byte
	//go:embed bundle.yaml
	bundle []byte
)

// Kinds returns the YAML stream of the custom resource definitions.
func Kinds() []byte { return kinds }

// Controllers returns the YAML stream of the Stages.
func Controllers() []byte { return controllers }

// MetricsReader returns the YAML stream of the account monitoring/prometheus
// and of its right to read metrics.
func MetricsReader() []byte { return metricsReader }

// Bundle returns the YAML of the Bundle shop.
func Bundle() []byte { return bundle }
