package readiness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules are what a kind's CRD says about its instances. They are immutable and
// shared by all nodes of the kind. Nil and the zero value stand for a built-in
// kind. A literal works too; RulesFromCRD parses the paths once.
type Rules struct {
	// Custom is true for kinds that a CRD serves.
	Custom bool
	// FieldPath and FieldValue are Smith's CrReadyWhenFieldPath and
	// CrReadyWhenFieldValue: both or none.
	FieldPath, FieldValue string
	// ExistsKind, ExistsGroup and ExistsVersion are Smith's
	// CrReadyWhenExistsKind and CrReadyWhenExistsVersion.
	ExistsKind, ExistsGroup, ExistsVersion string
	// OutputNameField is Smith's CrOutputNameField: a path on the owned
	// object, or on the object itself where OutputFromSelf says so.
	OutputNameField string
	// OutputFromSelf means the object publishes the output name itself, as
	// claims do.
	OutputFromSelf bool
	// OutputOptional means an absent name is no obstacle to Ready.
	OutputOptional bool
	// OutputKind is "Secret", "ConfigMap" or empty: whichever exists.
	OutputKind string
	// GenerationPath is truss.dev/generation-path: a field that must have
	// caught up with metadata.generation.
	GenerationPath string
	// SupportEnabled is Smith's SupportEnabled: "true". Only Bundles ask.
	SupportEnabled bool
	// HasStatusSubresource tells whether the served version has it.
	HasStatusSubresource bool
	// DeclaresStatus tells whether the schema has a status, or the version
	// its subresource.
	DeclaresStatus bool
	// DeclaresConditions tells whether the schema has status.conditions.
	DeclaresConditions bool

	problems []string
	paths    *rulePaths
}

// rulePaths are the parsed paths of Rules, nil where there is none.
type rulePaths struct {
	field, output, generation *Path
}

// NeedsOwned gives the kind K whose instances must be observed for this kind,
// and the version the CRD named; ok is false where no rule asks for one.
func (r *Rules) NeedsOwned() (gk schema.GroupKind, version string, ok bool) {
	if r == nil || r.ExistsKind == "" {
		return schema.GroupKind{}, "", false
	}
	return schema.GroupKind{Group: r.ExistsGroup, Kind: r.ExistsKind}, r.ExistsVersion, true
}

// NeedsContent tells whether the owned objects must be handed in whole, since
// the output name is read from them; else their metadata is enough.
func (r *Rules) NeedsContent() bool {
	return r != nil && r.OutputNameField != "" && !r.OutputFromSelf
}

// Err tells what is wrong with the rules, sorted, or nil. Evaluate reports the
// same on each instance; this is for linters.
func (r *Rules) Err() error {
	if r == nil {
		return nil
	}
	_, problems := r.compile()
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}

// comparesGeneration tells whether generation lag can be seen at all: without
// a status subresource each status write bumps the generation.
func (r *Rules) comparesGeneration() bool {
	return r == nil || !r.Custom || r.HasStatusSubresource
}

// stated tells whether the CRD states a readiness rule of Smith's.
func (r *Rules) stated() bool {
	return r != nil && (r.FieldPath != "" || r.ExistsKind != "")
}

// compile returns the parsed paths and everything that is wrong with the rules.
func (r *Rules) compile() (*rulePaths, []string) {
	if r == nil {
		return &rulePaths{}, nil
	}
	if r.paths != nil {
		return r.paths, r.problems
	}
	return r.parse()
}

func (r *Rules) parse() (*rulePaths, []string) {
	problems := append(slices.Clone(r.problems), r.pairProblems()...)
	parsed := &rulePaths{}
	parsed.field = parseRule(keyFieldPath, r.FieldPath, &problems)
	parsed.output = parseRule(keyOutputNameField, r.OutputNameField, &problems)
	parsed.generation = parseRule(keyGenerationPath, r.GenerationPath, &problems)
	if r.secretOwned() && parsed.output != nil && parsed.output.First() != "metadata" {
		problems = append(problems, fmt.Sprintf("annotation %s must name a field below metadata, since %s is a Secret whose values are never shown",
			keyOutputNameField, keyExistsKind))
	}
	slices.Sort(problems)
	return parsed, slices.Compact(problems)
}

func (r *Rules) secretOwned() bool { return r.ExistsGroup == "" && r.ExistsKind == "Secret" }

// pairProblems checks that rules of two annotations are whole.
func (r *Rules) pairProblems() []string {
	var problems []string
	missing := func(absent bool, key, because string) {
		if absent {
			problems = append(problems, fmt.Sprintf("annotation %s is missing or empty: %s needs it", key, because))
		}
	}
	missing(r.FieldPath != "" && r.FieldValue == "", keyFieldValue, keyFieldPath)
	missing(r.FieldPath == "" && r.FieldValue != "", keyFieldPath, keyFieldValue)
	missing(r.ExistsKind != "" && r.ExistsVersion == "", keyExistsVersion, keyExistsKind)
	missing(r.ExistsKind == "" && r.ExistsVersion != "", keyExistsKind, keyExistsVersion)
	missing(r.OutputNameField != "" && r.ExistsKind == "" && !r.OutputFromSelf, keyExistsKind, keyOutputNameField)
	if r.OutputKind != "" && r.OutputKind != kindSecret && r.OutputKind != kindConfigMap {
		problems = append(problems, fmt.Sprintf("annotation %s is %q: write Secret or ConfigMap", keyOutputKind, truncate(r.OutputKind, 60)))
	}
	if r.Custom && r.GenerationPath != "" && !r.HasStatusSubresource {
		problems = append(problems, fmt.Sprintf("annotation %s needs the status subresource: without it each status write raises metadata.generation", keyGenerationPath))
	}
	return problems
}

func parseRule(key, expr string, problems *[]string) *Path {
	if expr == "" {
		return nil
	}
	p, err := ParsePath(expr)
	if err != nil {
		*problems = append(*problems, fmt.Sprintf("annotation %s: %v", key, err))
		return nil
	}
	return p
}
