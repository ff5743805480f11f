package readiness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// SpecHash is a hash of the object without metadata and status, as 32 hex
// digits. It stands for metadata.generation on kinds without a status
// subresource, where each status write raises the generation. Key order does
// not matter. An object that is nil or not of JSON values gives "".
func SpecHash(obj *unstructured.Unstructured) string {
	if obj == nil {
		return ""
	}
	content := make(map[string]any, len(obj.Object))
	for key, value := range obj.Object {
		if key != "metadata" && key != "status" {
			content[key] = value
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
