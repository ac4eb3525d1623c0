package api

import (
	"hale/internal/imports"
	"hale/internal/wearables"
)

// Services are the parts of the program that handlers call beside the plain
// functions of the domains.
type Services struct {
	// Imports takes uploaded exports.
	Imports *imports.Service
	// Wearables stores what phones push.
	Wearables *wearables.Ingester
}
