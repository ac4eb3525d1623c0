package replay

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"time"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
)

// scratch is a database of our own schema that is thrown away. It is sealed
// with a root key that exists in memory only, so that nobody can read what a
// crash leaves behind.
type scratch struct {
	dir   string
	db    *store.DB
	sink  *ingest.Ingester
	users int
}

// mostUsers is how many users share one scratch database.
const mostUsers = 200

func openScratch(ctx context.Context, under string, now func() time.Time) (*scratch, error) {
	if err := os.MkdirAll(under, 0o700); err != nil {
		return nil, fmt.Errorf("replay: making a scratch database: %w", err)
	}
	dir, err := os.MkdirTemp(under, imports.ReplayPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("replay: making a scratch database: %w", err)
	}
	s := &scratch{dir: dir}
	root, err := secrets.ParseRoot(base64.StdEncoding.EncodeToString(secrets.Bytes(secrets.KeySize)))
	if err == nil {
		s.db, err = store.Open(ctx, store.Options{Dir: dir, Root: root, Now: now, Synchronous: "NORMAL", Readers: 1})
	}
	if err == nil {
		err = s.db.Migrate(store.AsSystem(ctx))
	}
	if err != nil {
		s.drop()
		return nil, fmt.Errorf("replay: making a scratch database: %w", err)
	}
	s.sink = &ingest.Ingester{DB: s.db, Again: true}
	return s, nil
}

// drop removes the database. What cannot be removed now is swept with the
// other leftovers of the folder.
func (s *scratch) drop() {
	if s == nil {
		return
	}
	var err error
	if s.db != nil {
		err = s.db.Close()
	}
	_ = errors.Join(err, os.RemoveAll(s.dir))
}
