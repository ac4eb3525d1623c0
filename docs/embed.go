// Package docs embeds the guides, so that the binary can show them.
package docs

import "embed"

// Files holds the guides, the recorded examples of the operations, and the programs that
// guides describe.
//
//go:embed *.md examples.json examples
var Files embed.FS
