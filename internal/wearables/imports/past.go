package imports

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/storage"

	"github.com/google/uuid"
)

// Past is an import that is to bring the past of a user's data at a provider
// and has not done so yet, or has failed to.
type Past struct {
	Import   ID
	Status   Status // queued, running or failed
	Attempts int
	Problem  Problem // why the last attempt failed; empty when it did not
	Created  time.Time
	Started  *time.Time // last attempt
	Finished *time.Time
}

// Problem says what sort of failure it was.
//
// Reference 7.10, error details of a historical pull.
type Problem string

// TryAgain is passing and will be tried again; Final lies in the file;
// GivenUp passed the last attempt.
const (
	TryAgain Problem = "resource_contention"
	Final    Problem = "non_retriable_error"
	GivenUp  Problem = "retry_quota_exhausted"
)

// Pasts are by user and provider: the last import of each, unless it has
// succeeded, for the users whose ids lie between two, inclusive.
func Pasts(ctx context.Context, tx *store.Tx, team teams.ID, first, last users.ID) (map[users.ID]map[string]Past, error) {
	rows, err := tx.Query(ctx, `SELECT user_id, id, kind, status, error, attempts, created_at, started_at, finished_at FROM imports
		WHERE team_id = $1 AND user_id BETWEEN $2 AND $3 AND status <> $4 AND stage <> $5 ORDER BY user_id, id`,
		team, first, last, string(Canceled), string(wearables.Daily))
	if err != nil {
		return nil, fmt.Errorf("imports: reading pasts: %w", err)
	}
	defer rows.Close()
	found := map[users.ID]map[string]Past{}
	for rows.Next() {
		var user users.ID
		var p Past
		var name, text string
		if err := rows.Scan(&user, &p.Import, &name, &p.Status, &text, &p.Attempts,
			store.ScanTime(&p.Created), store.ScanNullTime(&p.Started), store.ScanNullTime(&p.Finished)); err != nil {
			return nil, fmt.Errorf("imports: reading pasts: %w", err)
		}
		kind, _ := kindNamed(name)
		if kind.Provider == "" { // a recording, or of a kind of another version
			continue
		}
		if found[user] == nil {
			found[user] = map[string]Past{}
		}
		p.Problem = problemOf(p, text)
		found[user][kind.Provider] = p // the later of two counts
		if p.Status == Succeeded {
			delete(found[user], kind.Provider)
		}
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

func problemOf(p Past, text string) Problem {
	switch {
	case p.Status == Failed && p.Attempts >= attempts:
		return GivenUp
	case p.Status == Failed:
		return Final
	case p.Status == Queued && text != "":
		return TryAgain
	}
	return ""
}

// began tells when the present run of the user's connection to a provider did;
// false where there is none.
func (a *attempt) began(ctx context.Context, tx *store.Tx, provider string) (time.Time, bool, error) {
	links, err := connections.Links(ctx, tx, a.user.Team, a.user.ID)
	for _, link := range links[a.user.ID] {
		if link.Provider.Slug == provider {
			return link.CreatedOn, true, err
		}
	}
	return time.Time{}, false, err
}

// pastFilled says whether the past of the user's data at a provider is there, or
// is on its way from a phone, in the present run of the connection. What an
// import that came to nothing in this run has left of it does not count.
func (a *attempt) pastFilled(ctx context.Context, tx *store.Tx, provider string) (bool, error) {
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

// anotherImport says whether another import is to fill the past of the user's data
// at a provider, or was over in the run of the connection that began then. Its
// status is compared with Succeeded.
func (a *attempt) anotherImport(ctx context.Context, tx *store.Tx, provider, status string, began time.Time) (bool, error) {
	all, err := query(ctx, tx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND user_id = $2 AND id <> $3 AND stage = $4 AND `+status+`
		AND (finished_at IS NULL OR finished_at >= $6)`,
		a.row.Team, a.row.User, a.row.ID, string(wearables.Historical), string(Succeeded), store.Micros(began))
	return slices.ContainsFunc(all, func(i Import) bool {
		kind, _ := kindNamed(i.Kind)
		return kind.Provider == provider
	}), err
}

// unheard says of which resources the user had nothing at a provider when the file
// came, where an earlier file has brought the past, both in the present run of the
// connection: exports that are a file for each resource bring it one by one.
func (a *attempt) unheard(ctx context.Context, kind files.Kind, provider string) (func(resource string) bool, error) {
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
		names, err := storage.HeardBefore(ctx, tx, a.user.Team.UUID(), a.user.ID.UUID(), provider, began, a.row.CreatedAt)
		for _, name := range names {
			heard[name] = true
		}
		return err
	})
	return func(resource string) bool { return filled && !kind.Recording && !heard[resource] }, err
}
