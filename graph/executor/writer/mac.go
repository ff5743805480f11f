package writer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/truss-dev/truss/graph/resource"
)

// stampFormat is the number of the annotation's format. The MAC covers it.
const stampFormat = "1"

// KeySize is the number of bytes of a MAC key.
const KeySize = 32

// Stamp is the content of resource.AppliedAnnotation: what was applied, and
// the proof that Truss did it for this owner.
type Stamp struct {
	// Hash of the normalised desired state; empty for an unknown format.
	Hash string
	// Adopted says that the object existed before Truss took it over.
	Adopted bool
}

// Key proves ownership: labels and ownerReferences can be forged by anyone
// who may patch an object, a MAC cannot.
type Key []byte

// Sign returns the annotation's value, "<format>:<hash>:<mac>", with ":a"
// after it for an adopted object.
func (k Key) Sign(owner types.UID, id resource.Identity, s Stamp) string {
	value := stampFormat + ":" + s.Hash + ":" + k.mac(stampFormat, owner, id, s.Adopted)
	if s.Adopted {
		value += ":a"
	}
	return value
}

// Verify reads the annotation's value and says whether this key signed it for
// the owner and object. The hash is not covered: it only decides whether a
// write is needed. A stamp of another format is ours as long as the MAC is
// made alike, so that a roll-back leaves nothing behind as foreign.
func (k Key) Verify(owner types.UID, id resource.Identity, value string) (Stamp, bool) {
	parts := strings.Split(value, ":")
	if len(parts) < 3 || len(parts) > 4 {
		return Stamp{}, false
	}
	s := Stamp{Hash: parts[1], Adopted: len(parts) == 4 && parts[3] == "a"}
	if parts[0] != stampFormat {
		s.Hash = ""
	}
	return s, hmac.Equal([]byte(parts[2]), []byte(k.mac(parts[0], owner, id, s.Adopted)))
}

// says whether the stamp does not contradict a hash.
func (s Stamp) says(hash string) bool { return s.Hash == "" || s.Hash == hash }

// mac separates the fields by NUL, which none of them can contain.
func (k Key) mac(format string, owner types.UID, id resource.Identity, adopted bool) string {
	m := hmac.New(sha256.New, k)
	_, _ = fmt.Fprintf(m, "truss/%s\x00%s\x00%s\x00%s\x00%s\x00%s\x00%t",
		format, owner, id.Group, id.Kind, id.Namespace, id.Name, adopted)
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:18])
}
