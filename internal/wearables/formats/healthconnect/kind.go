package healthconnect

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files"
)

// Provider is the catalogue's name for Health Connect.
const Provider = "health_connect"

// Kind is a Health Connect export, or its records as JSON.
var Kind = files.Kind{Name: "health_connect", Title: "Health Connect export", Provider: Provider, Check: check, Run: run}

// DefaultLimit bounds the database, in bytes. A year of a watch takes some
// hundred megabytes.
const DefaultLimit = 8 << 30

// checkWithin bounds the time for inspecting the schema of a database.
const checkWithin = 10 * time.Second

var (
	errSlow   = fault.New(fault.Unprocessable, "the schema of the database takes too long to read")
	errUnlike = files.Unlike("the file holds no Health Connect database")
	errText   = errors.New("healthconnect: neither a database nor a zip") // it may be JSON
)

func check(path string, limit int64) error {
	a, err := openArchive(path, cmp.Or(limit, DefaultLimit))
	if errors.Is(err, errText) {
		return checkJSON(path, limit)
	}
	if err != nil {
		return err
	}
	defer a.Close()
	if a.member != nil {
		return a.checkMember()
	}
	// The uploading client waits for this.
	ctx, cancel := context.WithTimeout(context.Background(), checkWithin)
	defer cancel()
	db, err := open(ctx, path)
	switch {
	case ctx.Err() != nil && err != nil:
		return errSlow
	case err != nil:
		return err
	}
	return db.Close()
}

func run(ctx context.Context, in files.Input) (outcome *files.Outcome, err error) {
	outcome = files.NewOutcome()
	a, err := openArchive(in.Path, cmp.Or(in.Limit, DefaultLimit))
	if errors.Is(err, errText) {
		return outcome, runJSON(ctx, in, outcome)
	}
	if err != nil {
		return outcome, err
	}
	defer a.Close()
	path, discard, err := a.extract(ctx)
	if err != nil {
		return outcome, err
	}
	defer discard()
	db, err := open(ctx, path)
	if err != nil {
		return outcome, err
	}
	defer db.Close()
	return outcome, importDatabase(ctx, in, db, 0, a.size, outcome)
}
