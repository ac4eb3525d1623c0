package users

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// mostFound bounds what a search returns.
const mostFound = 100

// shortestQuery is in characters, as in the reference.
const shortestQuery = 2

// Search finds users whose user_id or client_user_id starts with the query,
// byte for byte, and, as our addition, those one of whose names does, whatever
// the case or accents. Newest first, at most 100.
//
// Reference 5.2, GET /v2/team/users/search.
func Search(ctx context.Context, tx *store.Tx, team teams.ID, query string) ([]User, error) {
	if len([]rune(query)) < shortestQuery || strings.ContainsRune(query, 0) {
		return nil, nil
	}
	var found []User
	for _, by := range []func(context.Context, *store.Tx, teams.ID, string) ([]User, error){searchIDs, searchClients, searchNames} {
		users, err := by(ctx, tx, team, query)
		if err != nil {
			return nil, fmt.Errorf("users: searching: %w", err)
		}
		found = append(found, users...)
	}
	slices.SortFunc(found, newestFirst)
	found = slices.CompactFunc(found, func(a, b User) bool { return a.ID == b.ID })
	return found[:min(len(found), mostFound)], nil
}

func newestFirst(a, b User) int {
	return cmp.Or(b.CreatedOn.Compare(a.CreatedOn), slices.Compare(b.ID[:], a.ID[:]))
}

func searchIDs(ctx context.Context, tx *store.Tx, team teams.ID, query string) ([]User, error) {
	first, last, ok := idRange(query)
	if !ok {
		return nil, nil
	}
	return many(ctx, tx, idsQuery, team, first, last, mostFound)
}

const idsQuery = `SELECT ` + columns + ` FROM users
	WHERE team_id = $1 AND user_id >= $2 AND user_id <= $3 AND deleted_at IS NULL ORDER BY user_id DESC LIMIT $4`

// idRange is the first and last identifier whose text starts with prefix.
func idRange(prefix string) (first, last uuid.UUID, ok bool) {
	const shape = "00000000-0000-0000-0000-000000000000"
	prefix = strings.ToLower(prefix)
	if len(prefix) > len(shape) {
		return first, last, false
	}
	first, err := uuid.Parse(prefix + shape[len(prefix):])
	if err != nil {
		return first, last, false
	}
	last, err = uuid.Parse(prefix + strings.ReplaceAll(shape, "0", "f")[len(prefix):])
	return first, last, err == nil
}

func searchClients(ctx context.Context, tx *store.Tx, team teams.ID, query string) ([]User, error) {
	return many(ctx, tx, clientsQuery, team, query, afterPrefix(query), mostFound)
}

const clientsQuery = `SELECT ` + columns + ` FROM users
	WHERE team_id = $1 AND client_user_id >= $2 AND client_user_id < $3 AND deleted_at IS NULL ORDER BY client_user_id LIMIT $4`

// afterPrefix is a text that sorts, byte by byte, after every text that starts
// with prefix and before any other that comes later. UTF-8 sorts as its code
// points do, so the last one is raised.
func afterPrefix(prefix string) string {
	runes := []rune(prefix)
	last := len(runes) - 1
	for last >= 0 && runes[last] == maxRune {
		last--
	}
	if last < 0 {
		return strings.Repeat(string(maxRune), longestClientID+1) // longer than any client_user_id
	}
	runes[last]++
	if runes[last] == firstSurrogate {
		runes[last] = lastSurrogate + 1
	}
	return string(runes[:last+1])
}

const (
	maxRune        = '\U0010FFFF'
	firstSurrogate = 0xD800
	lastSurrogate  = 0xDFFF
)

func searchNames(ctx context.Context, tx *store.Tx, team teams.ID, query string) ([]User, error) {
	ids, err := names.find(ctx, tx, team, query, mostFound)
	if err != nil {
		return nil, err
	}
	return byIDs(ctx, tx, team, ids)
}

// listWidth is how many identifiers one statement is given. Longer lists bind
// slowly on SQLite, and each width is a prepared statement of its own.
const listWidth = 25

// byIDs reads those of the users that are active. The last list is filled up
// by repeating, so that all have one width.
func byIDs(ctx context.Context, tx *store.Tx, team teams.ID, ids []ID) ([]User, error) {
	var found []User
	for list := range slices.Chunk(ids, listWidth) {
		args := []any{team}
		for i := range listWidth {
			args = append(args, list[min(i, len(list)-1)])
		}
		users, err := many(ctx, tx, `SELECT `+columns+` FROM users
			WHERE team_id = $1 AND user_id IN `+store.Placeholders(2, listWidth)+` AND deleted_at IS NULL`, args...)
		if err != nil {
			return nil, err
		}
		found = append(found, users...)
	}
	return found, nil
}
