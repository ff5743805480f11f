package graph

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the view as indented JSON, nodes by the author's order, in
// the field names of View. It is safe to put into HTML. Bytes that are not UTF-8
// become the replacement character.
func (v View) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("cannot write graph as JSON: %w", err)
	}
	return nil
}
