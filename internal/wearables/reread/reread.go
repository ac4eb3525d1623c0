// Package reread reads imported files again when the user's fallback zone changes.
//
// Some files have clock times without a zone. The user's zone at the time of the import
// gives their instants. If the zone is set or changed later, those instants are wrong. A
// job then removes the data of such an import, with the rules and events of undoing it.
// It reads the file of the ledger again as the same import. Deleted data stays deleted.
// Imports that both zones read alike stay as they are.
package reread

import (
	"context"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/imports"
)

// Service reads files again.
type Service struct {
	DB       *store.DB
	Imports  *imports.Service
	Deleting *deletion.Service
	// Sink stores the data. It accepts data of users whose collection has ended.
	Sink files.Sink
}

type args struct {
	User users.ID `json:"user"`
}

// Job returns the handler for the job runner.
func (s *Service) Job() jobs.Handler { return kind(s) }

func kind(s *Service) jobs.Kind[args] {
	return jobs.Define("imports.reread", func(ctx context.Context, run *jobs.Run, a args) error {
		return s.run(ctx, ids.FromUUID[teams.Team](run.Team), a.User)
	}).With(jobs.Limits{Concurrency: 1, Attempts: 1000, Timeout: 12 * time.Hour})
}

// UserRecords returns the hooks that enqueue the job after each change of a user's zone,
// and after a deleted user is restored.
func UserRecords() []users.Records {
	return []users.Records{{Name: "reread", OnZone: Enqueue, OnReturn: Enqueue}}
}

// Enqueue enqueues the job for a user with imports, in the transaction of the caller.
func Enqueue(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) error {
	if some, err := imports.HasImports(ctx, tx, team, user); err != nil || !some {
		return err
	}
	_, err := kind(nil).Enqueue(ctx, tx, args{user}, jobs.Options{Team: team.UUID(), Key: user.String()})
	return err
}

// pause is the time after which the job looks again at a running deletion or import.
const pause = time.Second

// run removes the data of misread imports, the newest first, because it may have replaced
// values of an older one. Then it reads the files again, the oldest first.
func (s *Service) run(ctx context.Context, team teams.ID, id users.ID) error {
	var user users.User
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		user, err = users.Get(ctx, tx, team, id)
		return err
	})
	if fault.Is(err, fault.NotFound) { // if the user returns, so does the job
		return nil
	}
	if err != nil {
		return err
	}
	misread, waiting, err := s.Imports.Misread(ctx, user)
	if err != nil {
		return err
	}
	for i := len(misread) - 1; i >= 0; i-- {
		ended, err := s.remove(ctx, user, &misread[i])
		if err != nil {
			return err
		}
		if !ended {
			return jobs.RetryLater(pause)
		}
	}
	if err := s.readAgain(ctx, user); err != nil {
		return err
	}
	if waiting {
		return jobs.RetryLater(pause)
	}
	return nil
}

// remove removes the data of an import. A large deletion continues in its own job: then
// ended is false. Imports from before changes were recorded stay.
func (s *Service) remove(ctx context.Context, user users.User, i *imports.Import) (ended bool, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		d, err := s.Deleting.Delete(ctx, tx, user, deletion.Filter{Import: i.ID.UUID(), Undo: true, Reread: true})
		if err != nil {
			return err
		}
		ended = d.Status != deletion.Running
		return imports.BeginReread(ctx, tx, i, d.ID.UUID())
	})
	if fault.Is(err, fault.Conflict) {
		return true, nil
	}
	return ended, err
}

// readAgain reads the files whose old data is removed.
func (s *Service) readAgain(ctx context.Context, user users.User) error {
	var all []imports.Rereading
	running := false
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if all, err = imports.RereadingOf(ctx, tx, user.Team, user.ID); err != nil {
			return err
		}
		for i := range all {
			d, err := deletion.Get(ctx, tx, user.Team, user.ID, ids.FromUUID[deletion.Deletion](all[i].Deletion))
			if err != nil {
				return err
			}
			running = running || d.Status == deletion.Running
		}
		return nil
	})
	if err != nil {
		return err
	}
	if running {
		return jobs.RetryLater(pause)
	}
	for i := range all {
		if err := s.Imports.Reread(ctx, &all[i].Import, user, s.Sink); err != nil {
			return err
		}
	}
	return nil
}
