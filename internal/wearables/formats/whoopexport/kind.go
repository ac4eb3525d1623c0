package whoopexport

import (
	"context"
	"io"
	"os"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for WHOOP. It has another for accounts of
// old, whose password was asked for; an export is of the one that there is now.
const Provider = "whoop_v2"

// Kind is a WHOOP export.
var Kind = files.Kind{Name: "whoop", Title: "WHOOP export", Provider: Provider, WallClock: true, Check: check, Run: run}

var errUnlike = files.Unlike("the file holds no table of a WHOOP export")

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		file, ok := in.(*os.File)
		if !ok {
			return errUnlike
		}
		all, err := sources(file)
		switch most := limitOf(limit); {
		case err == nil && len(all) == 0:
			return errUnlike
		case err == nil && sizeOf(all) > most:
			return tooLarge(most)
		}
		return err
	})
}

// limitOf returns the limit of the tables' total length.
func limitOf(limit int64) int64 {
	if limit == 0 || limit > sheet.DefaultLimit {
		return sheet.DefaultLimit
	}
	return limit
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	outcome := files.NewOutcome()
	if err := check(in.Path, in.Limit); err != nil {
		return outcome, err
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return outcome, err
	}
	defer file.Close()
	all, err := sources(file)
	if err != nil {
		return outcome, err
	}
	store, err := in.Store(ctx, Provider, outcome)
	if err != nil {
		return outcome, err
	}
	store.DaysAreStated(true, true)
	limit := limitOf(in.Limit)
	r := &reader{report: &outcome.Report, zone: sheet.Zone(in), sink: store, left: limit, limit: limit, size: sizeOf(all)}
	if err := r.read(ctx, all); err != nil {
		return outcome, err
	}
	return outcome, store.Finish(ctx)
}
