package oura

import (
	"context"
	"errors"
	"io"
	"os"

	"hale/internal/providers/files"
	"hale/internal/providers/sheet"
	"hale/internal/store"
	"hale/internal/wearables"
)

// Provider is the catalogue's name for Oura.
const Provider = "oura"

// Kind is a file of Oura's documents.
var Kind = files.Kind{Name: "oura", Title: "Oura JSON", Check: check, Run: run}

var (
	errUnlike = files.Unlike("the file is no JSON of Oura's documents")
	errFound  = errors.New("oura: a document was found")
)

// check looks at the first document. No byte of a file that has none among its
// first sheet.MaxRecord is read beyond those.
func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		err := walk(sheet.NewBounded(in), func(r *resource, _ document) error {
			if r == nil {
				return errUnlike
			}
			return errFound
		})
		if errors.Is(err, errFound) {
			return nil
		}
		return errUnlike
	})
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
	info, err := file.Stat()
	if err != nil {
		return outcome, err
	}
	store, err := in.Store(ctx, Provider, outcome)
	if err != nil {
		return outcome, err
	}
	r := &reader{
		report: &outcome.Report, zone: sheet.Zone(in), sink: store, device: in.Device, nights: nightsOf(in),
		size: info.Size(),
	}
	if err := r.read(ctx, file); err != nil {
		return outcome, err
	}
	return outcome, store.Finish(ctx)
}

// nightsOf reads the sleep of Oura's that is stored for some days.
func nightsOf(in files.Input) func(context.Context, string, string) ([]wearables.StoredSummary, error) {
	return func(ctx context.Context, from, to string) (all []wearables.StoredSummary, err error) {
		err = in.DB.Read(ctx, func(tx *store.Tx) (err error) {
			all, err = wearables.ListSummaries(ctx, tx, in.User.Team.UUID(), in.User.ID.UUID(),
				wearables.SummaryQuery{Resource: "sleep", From: from, To: to, Provider: Provider})
			return err
		})
		return all, err
	}
}
