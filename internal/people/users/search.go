package users

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// maxFound bounds the result of a search.
const maxFound = 100

// minQuery is in characters, as in the reference.
const minQuery = 2

// Search finds users whose user_id or client_user_id starts with the query, byte for
// byte. As our addition it finds users with a name that starts with it, ignoring case
// and accents. It returns at most 100 users, newest first.
//
// Reference 5.2, GET /v2/team/users/search.
func Search(ctx context.Context, tx *store.Tx, team teams.ID, query string) ([]User, error) {
	if len([]rune(query)) < minQuery || strings.ContainsRune(query, 0) {
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
	return found[:min(len(found), maxFound)], nil
}

func newestFirst(a, b User) int {
	return cmp.Or(b.CreatedOn.Compare(a.CreatedOn), slices.Compare(b.ID[:], a.ID[:]))
}

func searchIDs(ctx context.Context, tx *store.Tx, team teams.ID, query string) ([]User, error) {
	first, last, ok := idRange(query)
	if !ok {
		return nil, nil
	}
	return queryUsers(ctx, tx, idsQuery, team, first, last, maxFound)
}

const idsQuery = `SELECT ` + columns + ` FROM users
	WHERE team_id = $1 AND user_id >= $2 AND user_id <= $3 AND deleted_at IS NULL ORDER BY user_id DESC LIMIT $4`

// idRange returns the first and the last id whose text starts with prefix.
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
	return queryUsers(ctx, tx, clientsQuery, team, query, afterPrefix(query), maxFound)
}

const clientsQuery = `SELECT ` + columns + ` FROM users
	WHERE team_id = $1 AND client_user_id >= $2 AND client_user_id < $3 AND deleted_at IS NULL ORDER BY client_user_id LIMIT $4`

// afterPrefix returns the first text, in byte order, after all texts that start with
// prefix. UTF-8 sorts like its code points, so it increments the last one.
func afterPrefix(prefix string) string {
	runes := []rune(prefix)
	last := len(runes) - 1
	for last >= 0 && runes[last] == maxRune {
		last--
	}
	if last < 0 {
		return strings.Repeat(string(maxRune), MaxClientID+1) // longer than any client_user_id
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
	ids, err := names.Of(tx).find(ctx, tx, team, query, maxFound)
	if err != nil {
		return nil, err
	}
	return findByIDs(ctx, tx, team, ids)
}

// listWidth is the number of ids in one statement. Longer lists bind slowly on
// SQLite, and each width needs its own prepared statement.
const listWidth = 25

// findByIDs reads the active users among ids. It repeats the last id, so that all
// lists have the same width.
func findByIDs(ctx context.Context, tx *store.Tx, team teams.ID, ids []ID) ([]User, error) {
	var found []User
	for list := range slices.Chunk(ids, listWidth) {
		args := []any{team}
		for i := range listWidth {
			args = append(args, list[min(i, len(list)-1)])
		}
		users, err := queryUsers(ctx, tx, `SELECT `+columns+` FROM users
			WHERE team_id = $1 AND user_id IN `+store.Placeholders(2, listWidth)+` AND deleted_at IS NULL`, args...)
		if err != nil {
			return nil, err
		}
		found = append(found, users...)
	}
	return found, nil
}

// Names are sealed, so the database cannot search them. A team's first search unseals
// its names into an index in memory. The index drops them after an hour without a
// search, or when it has too many names.
//
// The team's counter of name changes keeps the index current on every node. A change
// takes the next number, writes it to the user's row, and holds the counter until it
// commits, so numbers are in commit order. A search reads the rows with numbers that
// the index has not seen. A deletion has a number, too.

// names has the index of users' names for each database.
var names = store.NewSlot(func() *nameIndex { return newNameIndex(maxNames) })

func newNameIndex(maxNames int) *nameIndex {
	return &nameIndex{maxNames: maxNames, teams: map[teams.ID]*teamNames{}}
}

const (
	maxNames   = 2_000_000 // of all teams; about 120 bytes each
	namesIdle  = time.Hour
	namesBatch = 500 // rows read before they are unsealed
)

type nameIndex struct {
	maxNames int // of all teams
	mu       sync.Mutex
	teams    map[teams.ID]*teamNames
}

// teamNames is one team's names as of version.
type teamNames struct {
	mu       sync.Mutex
	version  int64
	entries  []nameEntry
	position map[ID]int
	used     time.Time // guarded by nameIndex.mu, as is size
	size     int
}

// nameEntry is a user and its folded name, with a space before each word.
type nameEntry struct {
	user ID
	name string
}

// nextNameVersion counts a change of names and returns its number. Until the
// transaction ends, other changes in the team wait.
func nextNameVersion(ctx context.Context, tx *store.Tx, team teams.ID) (int64, error) {
	var version int64
	err := tx.QueryRow(ctx, `INSERT INTO user_counts (team_id, block, slot, n) VALUES ($1, $2, 0, 1)
		ON CONFLICT (team_id, block, slot) DO UPDATE SET n = user_counts.n + 1 RETURNING n`, team, namesBlock).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("users: counting a change of names: %w", err)
	}
	return version, nil
}

// find returns users with a name, or a full name, that starts with the query.
func (x *nameIndex) find(ctx context.Context, tx *store.Tx, team teams.ID, query string, limit int) ([]ID, error) {
	query = " " + fold(query)
	if len(query) <= minQuery {
		return nil, nil
	}
	t := x.teamNames(team, tx.Now())
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.catchUp(ctx, tx, team); err != nil {
		return nil, err
	}
	x.makeRoom(team, len(t.entries))
	var found []ID
	for _, e := range t.entries {
		if strings.Contains(e.name, query) {
			found = append(found, e.user)
		}
	}
	slices.SortFunc(found, func(a, b ID) int { return bytes.Compare(b[:], a[:]) }) // newest first
	return found[:min(len(found), limit)], nil
}

// teamNames returns the team's names. It drops those of idle teams.
func (x *nameIndex) teamNames(team teams.ID, now time.Time) *teamNames {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, t := range x.teams {
		if now.Sub(t.used) > namesIdle {
			delete(x.teams, id)
		}
	}
	t := x.teams[team]
	if t == nil {
		t = &teamNames{position: map[ID]int{}}
		x.teams[team] = t
	}
	t.used = now
	return t
}

// makeRoom drops the least recently used teams while the index has too many names.
// It keeps the given team.
func (x *nameIndex) makeRoom(team teams.ID, size int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if t := x.teams[team]; t != nil {
		t.size = size
	}
	for {
		total, oldest := 0, team
		for id, t := range x.teams {
			total += t.size
			if id != team && (oldest == team || t.used.Before(x.teams[oldest].used)) {
				oldest = id
			}
		}
		if total <= x.maxNames || oldest == team {
			return
		}
		delete(x.teams, oldest)
	}
}

// catchUp reads the changes that the transaction sees and the index has not read.
func (t *teamNames) catchUp(ctx context.Context, tx *store.Tx, team teams.ID) error {
	var version int64
	err := tx.QueryRow(ctx, `SELECT n FROM user_counts WHERE team_id = $1 AND block = $2 AND slot = 0`, team, namesBlock).Scan(&version)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return err
	}
	for t.version < version {
		changes, err := readChanges(ctx, tx, team, t.version)
		if err != nil {
			return err
		}
		if err := warmKeys(ctx, tx, team, changes); err != nil {
			return err
		}
		for _, c := range changes {
			if err := t.apply(ctx, tx, team, c); err != nil {
				return err
			}
		}
		if len(changes) < namesBatch {
			t.version = version
		}
	}
	return nil
}

// nameChange is the current state of a user that was renamed, deleted or restored.
type nameChange struct {
	user    ID
	version int64
	rev     int64
	sealed  []byte
	deleted bool
}

// changesQuery reads the changes after a version. The condition info_version > 0 lets the
// engines use the partial index.
const changesQuery = `SELECT u.user_id, u.info_version, u.info_rev, i.body, u.gone FROM (
		SELECT team_id, user_id, info_rev, info_version, CASE WHEN deleted_at IS NULL THEN 0 ELSE 1 END AS gone FROM users
		WHERE team_id = $1 AND info_version > 0 AND info_version > $2 ORDER BY info_version LIMIT $3) u
	LEFT JOIN user_info i ON i.team_id = u.team_id AND i.user_id = u.user_id AND i.rev = u.info_rev ORDER BY u.info_version`

func readChanges(ctx context.Context, tx *store.Tx, team teams.ID, after int64) ([]nameChange, error) {
	rows, err := tx.Query(ctx, changesQuery, team, after, namesBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var changes []nameChange
	for rows.Next() {
		var c nameChange
		var deleted int
		if err := rows.Scan(&c.user, &c.version, &c.rev, &c.sealed, &deleted); err != nil {
			return nil, err
		}
		c.deleted = deleted == 1 || c.sealed == nil // sealed is nil while the user is being erased
		changes = append(changes, c)
	}
	return changes, rows.Err()
}

// warmKeys reads the keys of all names in one query. Otherwise a first search would
// read them one by one.
func warmKeys(ctx context.Context, tx *store.Tx, team teams.ID, changes []nameChange) error {
	users := make([]uuid.UUID, 0, len(changes))
	for _, c := range changes {
		if !c.deleted {
			users = append(users, c.user.UUID())
		}
	}
	return tx.WarmKeys(ctx, team.UUID(), users)
}

func (t *teamNames) apply(ctx context.Context, tx *store.Tx, team teams.ID, c nameChange) error {
	if c.deleted {
		t.remove(c.user)
	} else {
		info, err := openInfo(ctx, tx, team, c.user, c.rev, c.sealed)
		if err != nil {
			return err
		}
		t.put(c.user, " "+fold(info.Name()))
	}
	t.version = c.version
	return nil
}

func (t *teamNames) put(user ID, name string) {
	if at, ok := t.position[user]; ok {
		t.entries[at].name = name
		return
	}
	t.position[user] = len(t.entries)
	t.entries = append(t.entries, nameEntry{user, name})
}

func (t *teamNames) remove(user ID) {
	at, ok := t.position[user]
	if !ok {
		return
	}
	last := len(t.entries) - 1
	t.entries[at] = t.entries[last]
	t.position[t.entries[at].user] = at
	t.entries[last] = nameEntry{}
	t.entries = t.entries[:last]
	delete(t.position, user)
}

// fold returns a name for comparison: lower case, without accents, with single spaces
// between words.
func fold(name string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(name))
	return strings.Join(strings.Fields(plain), " ")
}
