package records

import _ "embed"

// Schema is the JSON Schema of a line.
//
//go:embed schema.json
var Schema []byte
