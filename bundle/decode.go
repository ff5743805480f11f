package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/truss-dev/truss/graph/resource"
)

// decode parses every object into a map of its own: integers stay int64. A
// status is dropped, since only controllers write it; metadata that is null
// counts as absent.
func (c *compiler) decode() {
	for _, e := range c.entries {
		raw, err := rawObject(e.source.Spec.Object)
		var object map[string]any
		if err == nil {
			object, err = decodeObject(raw)
		}
		if err != nil {
			c.refuse(e, ReasonInvalidObject, e.objectField(""), "%v", err)
			continue
		}
		delete(object, "status")
		metadata, ok := object["metadata"].(map[string]any)
		if !ok {
			c.refuse(e, ReasonInvalidObject, e.objectField(".metadata"), "it is %s; write a map with a name", kindOf(object["metadata"]))
			continue
		}
		for key, v := range metadata {
			if v == nil {
				delete(metadata, key)
			}
		}
		e.object, e.metadata, e.plain = object, metadata, !mayRefer(raw)
	}
}

// rawObject returns the JSON of an object, which may have been built in Go.
func rawObject(extension *runtime.RawExtension) ([]byte, error) {
	switch {
	case extension != nil && len(extension.Raw) > 0:
		return extension.Raw, nil
	case extension == nil || extension.Object == nil:
		return nil, errors.New("there is no object; write one with apiVersion, kind and metadata.name")
	}
	raw, err := json.Marshal(extension.Object)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the object: %w", err)
	}
	return raw, nil
}

func decodeObject(raw []byte) (map[string]any, error) {
	var v any
	if err := kjson.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is %s; write a map with apiVersion, kind and metadata.name", kindOf(v))
	}
	return object, nil
}

// mayRefer reports whether some string of the JSON could hold a placeholder
// or an escape. Most objects of a large Bundle have none, and need no walk.
func mayRefer(raw []byte) bool {
	return bytes.Contains(raw, []byte("!{")) || bytes.Contains(raw, []byte(`\u00`))
}

// identify reads what must be static of each object, gives it the Bundle's
// namespace, and refuses a second resource with the same object: the two
// would overwrite each other for ever.
func (c *compiler) identify() {
	seen := map[resource.Identity]*entry{}
	for _, e := range c.entries {
		if e.object == nil || !c.readIdentity(e) {
			continue
		}
		first, taken := seen[e.identity]
		if !taken {
			seen[e.identity] = e
			continue
		}
		c.refuse(e, ReasonDuplicateIdentity, e.objectField(".metadata.name"),
			"resource %q already describes %s; remove one of the two", first.source.Name, e.identity)
	}
}

// readIdentity reports whether the identity of the object is complete.
func (c *compiler) readIdentity(e *entry) bool {
	version, versionOK := c.identityField(e, e.object, "apiVersion", "")
	kind, kindOK := c.identityField(e, e.object, "kind", "")
	name, nameOK := c.readName(e)
	namespaceOK := c.readNamespace(e)
	if !versionOK || !kindOK || !nameOK || !namespaceOK {
		return false
	}
	gv, err := schema.ParseGroupVersion(version)
	if err != nil || gv.Version == "" {
		c.refuse(e, ReasonInvalidObject, e.objectField(".apiVersion"), "%q is not a version; write v1 or group/v1", excerpt(version))
		return false
	}
	e.version = gv.Version
	e.identity = resource.Identity{Group: gv.Group, Kind: kind, Namespace: c.bundle.Namespace, Name: name}
	return true
}

// identityField reads a static, non-empty string.
func (c *compiler) identityField(e *entry, from map[string]any, key, prefix string) (string, bool) {
	field := e.objectField(prefix + "." + key)
	s, ok := from[key].(string)
	if !ok || s == "" {
		c.refuse(e, ReasonInvalidObject, field, "it is missing or not a string; every object needs it")
		return "", false
	}
	return c.staticText(e, field, s)
}

// staticText resolves escapes and refuses placeholders.
func (c *compiler) staticText(e *entry, field, s string) (string, bool) {
	t, err := parseText(s)
	if err == nil && t.static() {
		return t.literal(), true
	}
	c.refuse(e, ReasonDynamicIdentity, field,
		"%q uses a reference; this field must be known before anything is created, so write its value", excerpt(s))
	return "", false
}

func (c *compiler) readName(e *entry) (string, bool) {
	if _, ok := e.metadata["generateName"]; ok {
		c.refuse(e, ReasonGenerateName, e.objectField(".metadata.generateName"),
			"names must be known before anything is created; write metadata.name instead")
		return "", false
	}
	if v, ok := e.metadata["name"]; !ok || v == "" {
		c.refuse(e, ReasonMissingName, e.objectField(".metadata.name"), "the object has no name; write one")
		return "", false
	}
	return c.identityField(e, e.metadata, "name", ".metadata")
}

// readNamespace fills the Bundle's namespace in.
func (c *compiler) readNamespace(e *entry) bool {
	v, ok := e.metadata["namespace"]
	if !ok || v == "" {
		if c.bundle.Namespace != "" {
			e.metadata["namespace"] = c.bundle.Namespace
		}
		return true
	}
	namespace, ok := c.identityField(e, e.metadata, "namespace", ".metadata")
	if !ok {
		return false
	}
	if namespace != c.bundle.Namespace {
		c.refuse(e, ReasonForeignNamespace, e.objectField(".metadata.namespace"),
			"a Bundle of namespace %q cannot write into namespace %q; remove the field, or put the resource into a Bundle there",
			c.bundle.Namespace, excerpt(namespace))
		return false
	}
	return true
}
