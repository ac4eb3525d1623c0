package clarity

import (
	"context"
	"io"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for Dexcom's sensors.
const Provider = "dexcom_v3"

// Kind is a Clarity export.
var Kind = files.Kind{Name: "dexcom_clarity", Title: "Dexcom Clarity export", Provider: Provider, WallClock: true, Check: check, Run: run}

var errUnlike = files.Unlike("the file has no header of a Dexcom Clarity export")

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		_, _, err := open(in)
		return err
	})
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	return sheet.Run(ctx, in, Provider, read)
}
