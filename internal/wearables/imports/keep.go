package imports

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/ledger"
)

// Share copies an upload into the database, sealed, before anybody is told that
// it is safe: the node that took it may never come back, and a backup copies the
// database alone.
func (s *Service) Share(ctx context.Context, team teams.ID, user users.ID, up *Upload) error {
	if s.Ledger == nil {
		return nil
	}
	_, err := s.Ledger.KeepFile(ctx, s.DB, ledger.File{
		Team: team, User: user, Kind: up.Kind, Path: s.path(up.name), Size: up.Size, SHA256: up.SHA256,
	})
	return err
}

// file is the upload as the ledger knows it.
func (a *attempt) file() ledger.File {
	return ledger.File{
		Team: a.row.Team, User: a.row.User, Kind: a.row.Kind,
		Path: a.s.path(a.row.spool), Size: a.row.Size, SHA256: a.row.SHA256,
	}
}

// keep copies the upload into the ledger, before anything is made of it, and
// returns where the data goes: to the sink, with a note of where it came from.
func (a *attempt) keep(ctx context.Context) (files.Sink, error) {
	if a.s.Ledger == nil {
		return a.s.Sink, nil
	}
	id, err := a.s.Ledger.KeepFile(ctx, a.s.DB, a.file())
	if err != nil {
		return nil, err
	}
	return &linking{Sink: a.s.Sink, payload: id}, nil
}

// linking notes with each summary that it was read from a payload, and when
// that was read.
type linking struct {
	files.Sink
	payload ledger.ID
}

// Ingest stores a batch and, in the same transaction, where its summaries come
// from. A file is read for a while, and days are made at its end of all that
// came meanwhile: its place in the ledger is behind that.
func (l *linking) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	items := make([]ledger.Item, len(b.Summaries))
	for i := range b.Summaries {
		s := &b.Summaries[i]
		provider := s.Source.Provider
		if provider == "" {
			provider = b.Provider
		}
		items[i] = ledger.Item{Summary: wearables.SummaryID(user.ID.UUID(), provider, s.Resource, s.Key), Place: -1}
	}
	b.Also = func(ctx context.Context, tx *store.Tx, _ *store.Batch) error {
		if err := ledger.Touch(ctx, tx, user.Team, user.ID, l.payload); err != nil {
			return err
		}
		return ledger.Link(ctx, tx, user.Team, user.ID, l.payload, items)
	}
	return l.Sink.Ingest(ctx, user, b)
}

// fetch brings the upload from the ledger to this node, where another node
// took it or the database was restored. found is false when it is not there.
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

// restore writes a payload to a file that gets its name only when it is whole.
func (s *Service) restore(ctx context.Context, p *ledger.Payload, path string) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("imports: making the spool folder: %w", err)
	}
	file, err := os.CreateTemp(s.Dir, "*"+unfinished)
	if err != nil {
		return fmt.Errorf("imports: bringing a file back: %w", err)
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

// Span is when a file was read: by its last import that succeeded, else by the
// first one that failed.
type Span struct{ From, To time.Time }

// Wanted finds the payloads of a user's files that are to be read again: those
// of imports that ended by themselves, with when it was read. A file
// all of whose imports were canceled is not among them, and neither is one that
// no import came of: what it brought stays, and no more of it comes. One that
// still waits or is being read says itself what it brings.
func Wanted(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (map[ledger.ID]Span, error) {
	id, err := ledger.FileIDs(ctx, tx, team, user)
	if err != nil {
		return nil, err
	}
	all, err := query(ctx, tx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND user_id = $2 AND status IN ($3, $4) ORDER BY id`,
		team, user, string(Succeeded), string(Failed))
	if err != nil {
		return nil, fmt.Errorf("imports: finding what is wanted: %w", err)
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

// span is when all attempts of an import read its file or, where it succeeded,
// the last one, which read all of it.
func (i *Import) span() Span {
	s := Span{i.CreatedAt, i.CreatedAt}
	if i.Status == Succeeded && i.StartedAt != nil {
		s.From = *i.StartedAt
	}
	if i.FinishedAt != nil {
		s.To = *i.FinishedAt
	}
	return s
}

// Replay reads a file of the ledger again, as an import would today, into
// whatever sink and database the input names.
func (s *Service) Replay(ctx context.Context, p *ledger.Payload, in files.Input) (*files.Outcome, error) {
	kind, err := openKind(p.Kind)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("imports: making the spool folder: %w", err)
	}
	folder, err := os.MkdirTemp(s.Dir, ReplayPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("imports: reading a file again: %w", err)
	}
	defer os.RemoveAll(folder)
	in.Path, in.Limit = filepath.Join(folder, "payload"), s.MaxDocument
	if err := s.restore(ctx, p, in.Path); err != nil {
		return nil, err
	}
	return kind.Run(ctx, in)
}
