package audit

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

const (
	flushEvery   = 500 * time.Millisecond
	rowsPerBlock = 1000
	// mostWaiting bounds the queue. A full queue makes requests wait, so that an access
	// that is answered has a row.
	mostWaiting = 50_000
)

// Log writes the audit log of a database.
type Log struct {
	db   *store.DB
	root *secrets.Root
	log  *slog.Logger

	mu      sync.Mutex
	room    *sync.Cond // signalled when the queue was taken
	waiting []Entry
}

// New returns the log of a database. Retired root keys must be loaded.
func New(db *store.DB, log *slog.Logger) *Log {
	l := &Log{db: db, root: db.Root(store.AuditPurpose), log: log}
	l.room = sync.NewCond(&l.mu)
	return l
}

// Add queues rows. They are written within a second.
func (l *Log) Add(all ...Entry) {
	if len(all) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) >= mostWaiting {
		l.room.Wait()
	}
	l.waiting = append(l.waiting, all...)
}

// Run writes the queue and the rows of changes until ctx ends.
func (l *Log) Run(ctx context.Context) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := l.Flush(ctx); err != nil && ctx.Err() == nil {
				l.log.Warn("the audit log could not be written; it is tried again", "error", err)
			}
		}
	}
}

// Flush writes the queue and the rows of changes now.
func (l *Log) Flush(ctx context.Context) error {
	ctx = store.AsSystem(ctx)
	l.mu.Lock()
	queued := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	teams := map[uuid.UUID][]Entry{}
	for i := range queued {
		teams[queued[i].Team] = append(teams[queued[i].Team], queued[i])
	}
	err := l.pendingTeams(ctx, teams)
	var failed []Entry
	for team, all := range teams {
		for more := true; more; {
			part := all[:min(len(all), rowsPerBlock)]
			full := false
			if one := l.db.Write(ctx, func(tx *store.Tx) (err error) {
				full, err = l.addBlock(ctx, tx, team, part)
				return err
			}); one != nil {
				err = errors.Join(err, one)
				failed = append(failed, all...)
				break
			}
			all = all[len(part):]
			more = len(all) > 0 || full
		}
	}
	l.mu.Lock()
	l.waiting = append(failed, l.waiting...)
	l.room.Broadcast()
	l.mu.Unlock()
	return err
}

// pendingTeams adds the teams that have rows of changes.
func (l *Log) pendingTeams(ctx context.Context, teams map[uuid.UUID][]Entry) error {
	return l.db.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT team_id FROM audit_pending ORDER BY team_id, id LIMIT $1`, rowsPerBlock)
		if err != nil {
			return fmt.Errorf("audit: looking for rows of changes: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var team uuid.UUID
			if err := rows.Scan(&team); err != nil {
				return fmt.Errorf("audit: looking for rows of changes: %w", err)
			}
			if _, known := teams[team]; !known {
				teams[team] = nil
			}
		}
		return rows.Err()
	})
}

// link is the place of a block in its team's chain.
type link struct {
	number   int64
	previous []byte // code of the block before
}

// addBlock writes rows, and the rows of changes, as the next block of a team. full
// means that more rows of changes wait.
func (l *Log) addBlock(ctx context.Context, tx *store.Tx, team uuid.UUID, queued []Entry) (full bool, err error) {
	if err := tx.Lock(ctx, "audit:"+team.String()); err != nil {
		return false, err
	}
	next := link{number: 1}
	var all []Entry
	var b store.Batch
	b.Query(func(row store.Scanner) error {
		err := row.Scan(&next.number, &next.previous)
		next.number++
		return err
	}, `SELECT number, code FROM audit_blocks WHERE team_id = $1 ORDER BY number DESC LIMIT 1`, team)
	var ids []uuid.UUID
	b.Query(func(row store.Scanner) error {
		var id uuid.UUID
		var body string
		if err := row.Scan(&id, &body); err != nil {
			return err
		}
		e := Entry{Team: team}
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			return fmt.Errorf("audit: reading a row: %w", err)
		}
		ids, all = append(ids, id), append(all, e)
		return nil
	}, `SELECT id, body FROM audit_pending WHERE team_id = $1 ORDER BY id LIMIT $2`, team, rowsPerBlock)
	if err := tx.Run(ctx, &b); err != nil {
		return false, fmt.Errorf("audit: reading what comes before a block: %w", err)
	}
	if all = append(all, queued...); len(all) == 0 {
		return false, nil
	}
	code, err := l.code(team, next, tx.Now(), all)
	if err != nil {
		return false, err
	}
	b.Insert(nil, `INSERT INTO audit_blocks (team_id, number, made_at, entries, previous, code)`,
		[]any{team, next.number, tx.Now(), len(all), next.previous, code}, "")
	for i := range all {
		e := &all[i]
		b.Insert(nil, `INSERT INTO audit_log (team_id, block, n, at, actor_kind, actor, on_behalf_of, action, user_id, object_id, address, status, request_id)`,
			[]any{team, next.number, i, e.At, string(e.ActorKind), e.Actor, e.OnBehalfOf, e.Action, e.User, e.Object, e.Address, e.Status, e.RequestID}, "")
	}
	for _, id := range ids {
		b.Exec(nil, `DELETE FROM audit_pending WHERE team_id = $1 AND id = $2`, team, id)
	}
	if err := tx.Run(ctx, &b); err != nil {
		return false, fmt.Errorf("audit: writing a block: %w", err)
	}
	return len(ids) == rowsPerBlock, nil
}

// code returns the code of a block.
func (l *Log) code(team uuid.UUID, at link, made time.Time, all []Entry) ([]byte, error) {
	text, err := blockText(team, at, made, all)
	if err != nil {
		return nil, err
	}
	return l.root.Code(text)
}

// blockText returns the text that the code of a block covers. Each part has its length
// before it, so that two different blocks have different texts.
func blockText(team uuid.UUID, at link, made time.Time, all []Entry) ([]byte, error) {
	var text bytes.Buffer
	part := func(b []byte) {
		_ = binary.Write(&text, binary.BigEndian, uint32(len(b))) // to memory
		text.Write(b)
	}
	part(team[:])
	part(binary.BigEndian.AppendUint64(nil, uint64(at.number)))
	part(binary.BigEndian.AppendUint64(nil, uint64(store.Micros(made))))
	part(at.previous)
	for i := range all {
		e := all[i]
		e.At = e.At.UTC().Truncate(time.Microsecond)
		row, err := json.Marshal(&e)
		if err != nil {
			return nil, fmt.Errorf("audit: encoding a row: %w", err)
		}
		part(row)
	}
	return text.Bytes(), nil
}
