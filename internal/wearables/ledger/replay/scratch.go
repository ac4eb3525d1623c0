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

// scratch is a temporary database of our schema. It is sealed with a root key that exists in
// memory only, so that the files of a crash cannot be read.
type scratch struct {
	dir   string
	db    *store.DB
	sink  *ingest.Ingester
	users int
}

// maxUsers bounds the users of one scratch database.
const maxUsers = 200

func openScratch(ctx context.Context, under string, now func() time.Time) (*scratch, error) {
	if err := os.MkdirAll(under, 0o700); err != nil {
		return nil, fmt.Errorf("replay: creating a scratch database: %w", err)
	}
	dir, err := os.MkdirTemp(under, imports.ReplayPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("replay: creating a scratch database: %w", err)
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
		return nil, fmt.Errorf("replay: creating a scratch database: %w", err)
	}
	s.sink = ingest.NewReprocessor(s.db)
	return s, nil
}

// drop removes the database. If that fails, it is swept later.
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
