package nightscout

import (
	"context"
	"io"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the provider of data from the wearer's own server; see the package.
const Provider = "manual"

// AppID distinguishes the data from typed data.
const AppID = "nightscout"

// Kind is a list of Nightscout's records.
var Kind = files.Kind{Name: "nightscout", Title: "Nightscout JSON", Provider: Provider, Check: check, Run: run}

var errUnlike = files.Unlike("the file is no JSON list of Nightscout's entries or treatments")

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		_, err := open(in)
		return err
	})
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	return sheet.Run(ctx, in, Provider, read)
}
