package imports

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/storage"
)

// History is a queued, running or failed import of a user's history at a provider.
type History struct {
	Import   ID
	Status   Status // queued, running or failed
	Attempts int
	Problem  Problem // why the last attempt failed; empty if it did not
	Created  time.Time
	Started  *time.Time // last attempt
	Finished *time.Time
}

// Problem is a kind of failure.
//
// Reference 7.10, error details of a historical pull.
type Problem string

// TryAgain: a temporary failure, to be retried. Final: the file is at fault. RetriesExhausted: the
// last attempt failed.
const (
	TryAgain         Problem = "resource_contention"
	Final            Problem = "non_retriable_error"
	RetriesExhausted Problem = "retry_quota_exhausted"
)

// Histories returns by user and provider the last import, unless it succeeded, for users
// between two ids, inclusive.
func Histories(ctx context.Context, tx *store.Tx, team teams.ID, first, last users.ID) (map[users.ID]map[string]History, error) {
	rows, err := tx.Query(ctx, `SELECT user_id, id, kind, status, error, attempts, created_at, started_at, finished_at FROM imports
		WHERE team_id = $1 AND user_id BETWEEN $2 AND $3 AND status <> $4 AND stage <> $5 ORDER BY user_id, id`,
		team, first, last, string(Canceled), string(wearables.Daily))
	if err != nil {
		return nil, fmt.Errorf("imports: reading histories: %w", err)
	}
	defer rows.Close()
	found := map[users.ID]map[string]History{}
	for rows.Next() {
		var user users.ID
		var p History
		var name, text string
		if err := rows.Scan(&user, &p.Import, &name, &p.Status, &text, &p.Attempts,
			store.ScanTime(&p.Created), store.ScanNullTime(&p.Started), store.ScanNullTime(&p.Finished)); err != nil {
			return nil, fmt.Errorf("imports: reading histories: %w", err)
		}
		kind, _ := kindNamed(name)
		if kind.Provider == "" { // a recording, or a kind of another version
			continue
		}
		if found[user] == nil {
			found[user] = map[string]History{}
		}
		p.Problem = problemOf(p, text)
		found[user][kind.Provider] = p // the last one counts
		if p.Status == Succeeded {
			delete(found[user], kind.Provider)
		}
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

func problemOf(p History, text string) Problem {
	switch {
	case p.Status == Failed && p.Attempts >= maxAttempts:
		return RetriesExhausted
	case p.Status == Failed:
		return Final
	case p.Status == Queued && text != "":
		return TryAgain
	}
	return ""
}

// began returns when the current run of the user's connection to a provider began; false
// without a connection.
func (a *attempt) began(ctx context.Context, tx *store.Tx, provider string) (time.Time, bool, error) {
	links, err := connections.Links(ctx, tx, a.user.Team, a.user.ID)
	for _, link := range links[a.user.ID] {
		if link.Provider.Slug == provider {
			return link.CreatedOn, true, err
		}
	}
	return time.Time{}, false, err
}

// hasHistory reports whether the history of the user at a provider is stored, or a phone
// is pushing it. Only the current run of the connection counts. Data of a failed import
// of this run does not count.
func (a *attempt) hasHistory(ctx context.Context, tx *store.Tx, provider string) (bool, error) {
	began, connected, err := a.began(ctx, tx, provider)
	if err != nil || !connected {
		return false, err
	}
	since := func(uuid.UUID, string) time.Time { return began }
	user := storage.UserRange{First: a.user.ID.UUID(), Last: a.user.ID.UUID(), Provider: provider}
	heard, err := storage.StatisticsOf(ctx, tx, a.user.Team.UUID(), user)
	if err != nil {
		return false, err
	}
	pulls, err := storage.PullsOf(ctx, tx, a.user.Team.UUID(), user, heard, since)
	if err != nil {
		return false, err
	}
	begun := false
	for _, p := range pulls[a.user.ID.UUID()][provider] {
		if p.Status == storage.PullSuccess {
			return true, nil
		}
		begun = true
	}
	if !begun {
		return false, nil
	}
	ours, err := a.anotherImport(ctx, tx, provider, `status <> $5`, began)
	return !ours, err
}

// anotherImport reports whether another import stores the history of the user at a
// provider. Imports count if they have not ended, or ended in the run of the connection
// that began then. status is a condition that compares an import's status with
// Succeeded.
func (a *attempt) anotherImport(ctx context.Context, tx *store.Tx, provider, status string, began time.Time) (bool, error) {
	all, err := query(ctx, tx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND user_id = $2 AND id <> $3 AND stage = $4 AND `+status+`
		AND (finished_at IS NULL OR finished_at >= $6)`,
		a.row.Team, a.row.User, a.row.ID, string(wearables.Historical), string(Succeeded), store.Micros(began))
	return slices.ContainsFunc(all, func(i Import) bool {
		kind, _ := kindNamed(i.Kind)
		return kind.Provider == provider
	}), err
}

// missingResources returns which resources of a provider had no data when the file was
// received. It reports such resources only if an earlier file brought the history in the
// current run of the connection. Some exports have a file for each resource.
func (a *attempt) missingResources(ctx context.Context, kind files.Kind, provider string) (func(resource string) bool, error) {
	heard := map[string]bool{}
	filled := false
	err := a.s.DB.Read(ctx, func(tx *store.Tx) error {
		began, _, err := a.began(ctx, tx, provider)
		if err != nil {
			return err
		}
		if filled, err = a.anotherImport(ctx, tx, provider, `status = $5`, began); err != nil {
			return err
		}
		names, err := storage.FirstStoredBetween(ctx, tx, a.user.Team.UUID(), a.user.ID.UUID(), provider, began, a.row.CreatedAt)
		for _, name := range names {
			heard[name] = true
		}
		return err
	})
	return func(resource string) bool { return filled && !kind.Recording && !heard[resource] }, err
}
