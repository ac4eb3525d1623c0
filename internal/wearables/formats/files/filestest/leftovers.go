package filestest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables/storage"
)

// Context returns a context with the scope of the user's team.
func Context(user users.User) context.Context {
	return store.WithTeam(context.Background(), user.Team.UUID())
}

// Save writes a file for a test.
func Save(tb testing.TB, content []byte) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "upload")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

// Summaries returns a user's summaries of a resource, as the API sends them, by day.
func Summaries(tb testing.TB, db *store.DB, user users.User, resource string) []map[string]any {
	tb.Helper()
	ctx := Context(user)
	var all []map[string]any
	err := db.Read(ctx, func(tx *store.Tx) error {
		all = nil
		stored, err := storage.ListSummaries(ctx, tx, user.Team.UUID(), user.ID.UUID(), storage.SummaryQuery{Resource: resource})
		if err != nil {
			return err
		}
		for i := range stored {
			body, err := fields(&stored[i])
			if err != nil {
				return err
			}
			all = append(all, body)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func fields(s *storage.StoredSummary) (map[string]any, error) {
	raw, err := storage.AppendSummary(nil, s, "")
	if err != nil {
		return nil, err
	}
	var body map[string]any
	return body, json.Unmarshal(raw, &body)
}

// Events counts a user's events by type, without those about the user and about further
// resources of a connection.
func Events(tb testing.TB, db *store.DB, user users.User) map[string]int {
	tb.Helper()
	ctx := Context(user)
	counts := map[string]int{}
	err := db.Read(ctx, func(tx *store.Tx) error {
		clear(counts)
		rows, err := tx.Query(ctx, `SELECT type, COUNT(*) FROM events WHERE team_id = $1 AND user_id = $2
			AND type NOT LIKE 'user.%' AND type <> 'provider.connection.updated' GROUP BY type`, user.Team.UUID(), user.ID.UUID())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var kind string
			var n int
			if err := rows.Scan(&kind, &n); err != nil {
				return err
			}
			counts[kind] = n
		}
		return rows.Err()
	})
	if err != nil {
		tb.Fatal(err)
	}
	return counts
}
