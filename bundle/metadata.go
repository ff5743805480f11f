package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "github.com/truss-dev/truss/bundle/v1"
	"github.com/truss-dev/truss/graph/resource"
)

const trussPrefix = "truss.dev/"

// fault is something wrong in the metadata of an object.
type fault struct {
	reason  string
	field   string
	message string
}

// checkMetadata refuses metadata that is not the author's to set. System
// fields that are null are gone by now: creationTimestamp: null stands in most
// YAML that a program wrote.
func (c *compiler) checkMetadata() {
	for _, e := range c.entries {
		if e.object == nil {
			continue
		}
		for _, f := range slices.Concat(metadataFaults(e.metadata), staticFaults(e.metadata)) {
			c.refuse(e, f.reason, e.objectField(".metadata"+f.field), "%s", f.message)
		}
	}
}

// metadataFaults lists reserved metadata. It also judges rendered metadata,
// since a reference can put a whole map into labels or annotations.
func metadataFaults(metadata map[string]any) []fault {
	return slices.Concat(
		systemFaults(metadata),
		ownerFaults(metadata["ownerReferences"]),
		finalizerFaults(metadata["finalizers"]),
		labelFaults(metadata["labels"]),
		annotationFaults(metadata["annotations"]),
	)
}

// systemFields are the metadata that belongs to the API server.
func systemFields() []string {
	return []string{
		"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation",
		"managedFields", "resourceVersion", "selfLink", "uid",
	}
}

func systemFaults(metadata map[string]any) []fault {
	var out []fault
	for _, field := range systemFields() {
		if _, ok := metadata[field]; ok {
			out = append(out, fault{ReasonReservedMetadata, "." + field, "only the API server sets it; remove it"})
		}
	}
	return out
}

func ownerFaults(v any) []fault {
	var out []fault
	list, _ := v.([]any)
	for i, item := range list {
		owner, _ := item.(map[string]any)
		if controller, ok := owner["controller"]; ok && controller != false && controller != nil {
			out = append(out, fault{ReasonReservedMetadata, fmt.Sprintf(".ownerReferences[%d].controller", i),
				"the Bundle is the controller of its objects; remove it or set it to false"})
		}
	}
	return out
}

func finalizerFaults(v any) []fault {
	var out []fault
	list, _ := v.([]any)
	for i, item := range list {
		s, _ := item.(string)
		if s == v1.Finalizer || strings.HasPrefix(s, trussPrefix) {
			out = append(out, fault{ReasonReservedMetadata, fmt.Sprintf(".finalizers[%d]", i),
				fmt.Sprintf("%q is set by Truss only; remove it", excerpt(s))})
		}
	}
	return out
}

func labelFaults(v any) []fault {
	var out []fault
	labels, _ := v.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		switch {
		case strings.HasPrefix(key, trussPrefix):
			out = append(out, fault{ReasonReservedMetadata, quotedKey(".labels", key), "labels of truss.dev are set by Truss only; remove it"})
		case key == resource.ManagedByLabel && labels[key] != resource.ManagedByTruss:
			out = append(out, fault{ReasonReservedMetadata, quotedKey(".labels", key),
				fmt.Sprintf("Truss manages the object and sets this label to %q; remove it", resource.ManagedByTruss)})
		}
	}
	return out
}

func annotationFaults(v any) []fault {
	var out []fault
	annotations, _ := v.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		switch {
		case key == resource.DeletionTimestampAnnotation:
			out = append(out, fault{ReasonReservedMetadata, quotedKey(".annotations", key),
				fmt.Sprintf("annotation %q cannot be set by the user; remove it", key)})
		case strings.HasPrefix(key, trussPrefix) && !slices.Contains(resource.UserAnnotations(), key):
			out = append(out, fault{ReasonReservedMetadata, quotedKey(".annotations", key),
				"authors may set " + strings.Join(resource.UserAnnotations(), ", ") + " only; remove it"})
		}
	}
	return out
}

// staticFaults judges annotations that are read when nothing is rendered yet,
// or any more: they must not use references.
func staticFaults(metadata map[string]any) []fault {
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		return nil
	}
	var out []fault
	for _, key := range append(resource.UserAnnotations(), resource.DeletionAnnotation, resource.DeletionDelayAnnotation) {
		s, ok := annotations[key].(string)
		if !ok {
			continue
		}
		if t, err := parseText(s); err == nil && !t.static() {
			out = append(out, fault{ReasonDynamicIdentity, quotedKey(".annotations", key),
				"Truss reads this annotation before it renders the object; write its value"})
		}
	}
	return append(out, delayFaults(annotations)...)
}

func delayFaults(annotations map[string]any) []fault {
	v, ok := annotations[resource.DeletionDelayAnnotation]
	if !ok {
		return nil
	}
	s, _ := v.(string)
	if strings.Contains(s, "!{") {
		return nil
	}
	if delay, err := time.ParseDuration(s); err == nil && delay >= 0 {
		return nil
	}
	return []fault{{ReasonInvalidDeletionDelay, quotedKey(".annotations", resource.DeletionDelayAnnotation),
		fmt.Sprintf("%q is not a duration; write one like 30m or 24h", excerpt(s))}}
}

func quotedKey(field, key string) string {
	return fmt.Sprintf("%s[%q]", field, excerptTo(key, 100))
}
