// Package docs embeds the guides, so that the binary can show them.
package docs

import "embed"

// Files holds the guides and the recorded examples of the operations.
//
//go:embed *.md examples.json
var Files embed.FS
