package users

import (
	"bytes"
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

// Names are sealed, so a database cannot search them. A team's names are
// unsealed when somebody first searches and kept in memory, folded, until the
// team has not searched for an hour or other teams need the room.
//
// The team's counter of name changes keeps the memory true on every node: a
// change takes the next number and writes it to the user's row, holding the
// counter until it commits, so numbers are in commit order. A search compares
// the counter with what it has seen and reads the rows with later numbers,
// which are few. A deleted user's row has a new number as well.

// names is the memory of this process.
var names = nameIndex{most: mostNames, teams: map[teams.ID]*teamNames{}}

const (
	mostNames  = 2_000_000 // over all teams, some 120 bytes each
	namesKept  = time.Hour
	namesBatch = 500 // rows read before they are unsealed
)

type nameIndex struct {
	most  int // names over all teams
	mu    sync.Mutex
	teams map[teams.ID]*teamNames
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

// find returns users one of whose names, or whose full name, starts with the
// query.
func (x *nameIndex) find(ctx context.Context, tx *store.Tx, team teams.ID, query string, limit int) ([]ID, error) {
	query = " " + fold(query)
	if len(query) <= shortestQuery {
		return nil, nil
	}
	t := x.of(team, tx.Now())
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

// of is the team's memory; one that was not used for long starts anew.
func (x *nameIndex) of(team teams.ID, now time.Time) *teamNames {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, t := range x.teams {
		if now.Sub(t.used) > namesKept {
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

// makeRoom drops the teams that searched longest ago while all names together
// are too many. The team that searches now stays.
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
		if total <= x.most || oldest == team {
			return
		}
		delete(x.teams, oldest)
	}
}

// catchUp reads the changes that the transaction's snapshot has and the
// memory has not.
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

// nameChange is the newest state of a user whose name, or being there, changed.
type nameChange struct {
	user    ID
	version int64
	rev     int64
	sealed  []byte
	deleted bool
}

// changesQuery says that versions are above zero, which both engines need to
// hear before they use the index that has only those.
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
		c.deleted = deleted == 1 || c.sealed == nil // being erased right now
		changes = append(changes, c)
	}
	return changes, rows.Err()
}

// warmKeys reads the keys that the names are sealed with at once: a first
// search would else ask for one after the other.
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

// fold is a name as it is compared: lower case, without accents, words parted
// by single spaces.
func fold(name string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(name))
	return strings.Join(strings.Fields(plain), " ")
}
