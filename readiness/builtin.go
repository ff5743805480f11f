package readiness

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	groupAPIExtensions  = "apiextensions.k8s.io"
	groupServiceCatalog = "servicecatalog.k8s.io"
)

// A kindRule judges one built-in kind; not decided means kstatus does.
type kindRule func(obj *unstructured.Unstructured, rel Related) (Result, bool)

// overlay gives the rule that corrects a known gap of kstatus for a kind, nil
// where kstatus alone decides.
func overlay(gk schema.GroupKind) kindRule {
	switch gk.Group {
	case "":
		return coreOverlay(gk.Kind)
	case "apps", "extensions":
		return workloadOverlay(gk.Kind)
	case "batch":
		return kindIs(gk, "Job", job)
	case "autoscaling":
		return kindIs(gk, "HorizontalPodAutoscaler", autoscaler)
	case "apiregistration.k8s.io":
		return kindIs(gk, "APIService", apiService)
	case groupServiceCatalog:
		return serviceCatalogOverlay(gk.Kind)
	}
	return nil
}

func coreOverlay(kind string) kindRule {
	switch kind {
	case "ConfigMap", kindSecret, "ServiceAccount":
		return existing
	case "Service":
		return service
	case "Pod":
		return pod
	case "PersistentVolumeClaim":
		return volumeClaim
	case "Namespace":
		return namespace
	case "ReplicationController":
		return replicationController
	}
	return nil
}

func kindIs(gk schema.GroupKind, kind string, rule kindRule) kindRule {
	if gk.Kind != kind {
		return nil
	}
	return rule
}

// RulesForBuiltin gives the rules of a kind that no CRD serves. Service
// Catalog's ServiceBinding has an output Secret; all others have zero rules.
func RulesForBuiltin(gk schema.GroupKind) *Rules {
	if gk.Group == groupServiceCatalog && gk.Kind == "ServiceBinding" {
		return &Rules{OutputFromSelf: true, OutputNameField: "spec.secretName", OutputKind: kindSecret}
	}
	return &Rules{}
}

// builtin is rule 4: the overlay, then kstatus.
func builtin(obj *unstructured.Unstructured, rel Related) Result {
	gk := obj.GroupVersionKind().GroupKind()
	if rule := overlay(gk); rule != nil {
		if r, decided := rule(obj, rel); decided {
			return r
		}
	}
	if r, decided := abnormal(obj, nil); decided {
		return r
	}
	if compute := status.GetLegacyConditionsFn(obj); compute != nil {
		return fromKstatus(obj, gk.Kind, compute)
	}
	return generic(obj, gk.Kind)
}

// generic is kstatus's rule for kinds that it has no rule for, with status
// fields that say Failed taken at their word.
func generic(obj *unstructured.Unstructured, kind string) Result {
	said, hasReady := readyCondition(obj, nil)
	if said.Status == Ready {
		return said
	}
	if r, decided := statusFailed(obj.Object); decided {
		return r
	}
	if hasReady {
		return said
	}
	return ready(ReasonExists, kind+" has no readiness of its own and exists")
}

// existing is the rule of kinds without a status.
func existing(obj *unstructured.Unstructured, _ Related) (Result, bool) {
	return ready(ReasonExists, obj.GetKind()+" is ready once it exists"), true
}

// fromKstatus translates the verdict of kstatus's rule for a kind. kstatus
// asserts types without checking in places, so what it cannot read is caught
// here. Its generation check is not used: it refuses an observedGeneration that
// is a text.
func fromKstatus(obj *unstructured.Unstructured, kind string, compute status.GetConditionsFn) (result Result) {
	rule := "kstatus rule for " + kind + ": "
	defer func() {
		if recover() != nil {
			result = inProgress(ReasonStatusUnreadable, rule+"the status has an unexpected shape")
		}
	}()
	computed, err := compute(obj)
	if err != nil {
		return inProgress(ReasonStatusUnreadable, rule+"the status has an unexpected shape")
	}
	switch computed.Status {
	case status.CurrentStatus:
		return ready(ReasonKstatusCurrent, rule+computed.Message)
	case status.FailedStatus:
		return failed(kstatusReason(computed), rule+computed.Message)
	default:
		return inProgress(kstatusReason(computed), rule+computed.Message)
	}
}

// kstatusReason prefixes kstatus's reason where it is a plain word.
func kstatusReason(computed *status.Result) string {
	if len(computed.Conditions) == 0 {
		return ReasonKstatusPrefix + computed.Status.String()
	}
	reason := computed.Conditions[0].Reason
	plain := func(r rune) bool { return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	if reason == "" || len(reason) > 100 || strings.TrimFunc(reason, plain) != "" {
		return ReasonKstatusPrefix + computed.Status.String()
	}
	return ReasonKstatusPrefix + reason
}

// conditionRule is Ready where a condition is True.
func conditionRule(obj *unstructured.Unstructured, conditionType string) Result {
	c, found := conditionOf(obj.Object, conditionType)
	if !found {
		return inProgress(ReasonNotObserved, fmt.Sprintf("%s has no condition %s yet", obj.GetKind(), conditionType))
	}
	if c.status != "True" {
		return inProgress(conditionType, c.says(conditionType))
	}
	return ready(conditionType, c.says(conditionType))
}
