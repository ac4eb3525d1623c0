package imports

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/ledger"
)

// Share copies an upload into the database, sealed, before the answer confirms it. The
// node may fail for good, and a backup has only the database.
func (s *Service) Share(ctx context.Context, team teams.ID, user users.ID, up *Upload) error {
	if s.Ledger == nil {
		return nil
	}
	_, err := s.Ledger.KeepFile(ctx, s.DB, ledger.File{
		Team: team, User: user, Kind: up.Kind, Path: s.path(up.name), Size: up.Size, SHA256: up.SHA256,
	})
	return err
}

// file returns the upload as a file of the ledger.
func (a *attempt) file() ledger.File {
	return ledger.File{
		Team: a.row.Team, User: a.row.User, Kind: a.row.Kind,
		Path: a.s.path(a.row.spool), Size: a.row.Size, SHA256: a.row.SHA256,
	}
}

// keep copies the upload into the ledger before it is read. It returns a sink that also
// stores the origin of the data.
func (a *attempt) keep(ctx context.Context) (files.Sink, error) {
	into, err := a.s.ReadBefore(ctx, a.row.Kind, a.user, a.s.Sink)
	if err != nil {
		return nil, err
	}
	journal := &journalingSink{into, a.row.ID}
	if a.s.Ledger == nil {
		return journal, nil
	}
	id, err := a.s.Ledger.KeepFile(ctx, a.s.DB, a.file())
	if err != nil {
		return nil, err
	}
	return &linkingSink{Sink: journal, payload: id}, nil
}

// journalingSink has the changes of an import recorded, so that it can be undone.
type journalingSink struct {
	files.Sink
	id ID
}

// Ingest stores a batch of the import.
func (l *journalingSink) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	b.Import = l.id.UUID()
	return l.Sink.Ingest(ctx, user, b)
}

// linkingSink stores for each summary its payload, and when that was read.
type linkingSink struct {
	files.Sink
	payload ledger.ID
	again   bool // the file was received before
}

// Ingest stores a batch and, in the same transaction, the origin of its summaries. The
// import derives days at its end, also from data that arrived meanwhile, so the file's
// time in the ledger is after that data.
func (l *linkingSink) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	b.Also = func(ctx context.Context, tx *store.Tx, _ *store.Batch, stored []uuid.UUID) error {
		if !l.again {
			if err := ledger.Touch(ctx, tx, user.Team, user.ID, l.payload); err != nil {
				return err
			}
		}
		items := make([]ledger.Item, len(stored))
		for i, id := range stored {
			items[i] = ledger.Item{Summary: id, Place: -1}
		}
		return ledger.Link(ctx, tx, user.Team, user.ID, l.payload, items)
	}
	return l.Sink.Ingest(ctx, user, b)
}

// fetch copies the upload from the ledger to this node, if another node received it or
// the database was restored. found is false if the ledger does not have it.
func (a *attempt) fetch(ctx context.Context) (found bool, err error) {
	if a.s.Ledger == nil {
		return false, nil
	}
	var payload ledger.Payload
	err = a.s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		payload, found, err = a.s.Ledger.FileOf(ctx, tx, a.file())
		return err
	})
	if err != nil || !found {
		return false, err
	}
	return true, a.s.restore(ctx, &payload, a.s.path(a.row.spool))
}

// restore writes a payload to a file, which gets its name when it is complete.
func (s *Service) restore(ctx context.Context, p *ledger.Payload, path string) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("imports: creating the spool folder: %w", err)
	}
	file, err := os.CreateTemp(s.Dir, "*"+unfinishedSuffix)
	if err != nil {
		return fmt.Errorf("imports: restoring a file: %w", err)
	}
	err = errors.Join(p.Restore(ctx, s.DB, file), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Span is the time in which a file was read: by its last successful import, or by the
// first failed one.
type Span struct {
	From, To time.Time
	Zone     *string // the user's zone then, empty without one; nil if unknown
}

// FilesToReprocess finds the payloads of a user's files to reprocess, and when each was
// read. These are files with a succeeded or failed import. A file without an import, or
// with canceled imports only, is not among them: its stored data stays. A queued or
// running import stores its data itself.
func FilesToReprocess(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (map[ledger.ID]Span, error) {
	id, err := ledger.FileIDs(ctx, tx, team, user)
	if err != nil {
		return nil, err
	}
	all, err := query(ctx, tx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND user_id = $2 AND status IN ($3, $4) AND undone_at IS NULL AND rereading_id IS NULL ORDER BY id`,
		team, user, string(Succeeded), string(Failed))
	if err != nil {
		return nil, fmt.Errorf("imports: finding files to reprocess: %w", err)
	}
	wanted := map[ledger.ID]Span{}
	for i := range all {
		file := id(all[i].Kind, all[i].SHA256)
		if _, known := wanted[file]; !known || all[i].Status == Succeeded {
			wanted[file] = all[i].span()
		}
	}
	return wanted, nil
}

// span returns the time of all attempts of an import, or of the last one if it succeeded,
// which read the whole file.
func (i *Import) span() Span {
	s := Span{i.CreatedAt, i.CreatedAt, i.zone}
	if i.Status == Succeeded && i.StartedAt != nil {
		s.From = *i.StartedAt
	}
	if i.FinishedAt != nil {
		s.To = *i.FinishedAt
	}
	return s
}

// Replay reads a file of the ledger as an import does, into the sink and database of the
// input.
func (s *Service) Replay(ctx context.Context, p *ledger.Payload, in files.Input) (*files.Outcome, error) {
	kind, err := openKind(p.Kind)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("imports: creating the spool folder: %w", err)
	}
	folder, err := os.MkdirTemp(s.Dir, ReplayPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("imports: reprocessing a file: %w", err)
	}
	defer os.RemoveAll(folder)
	in.Path, in.Limit = filepath.Join(folder, "payload"), s.MaxDocument
	if err := s.restore(ctx, p, in.Path); err != nil {
		return nil, err
	}
	return kind.Run(ctx, in)
}
