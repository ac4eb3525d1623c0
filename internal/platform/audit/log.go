package audit

import (
	"context"
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

// New returns the log of a database. Retired root keys must be loaded. log may be nil.
func New(db *store.DB, log *slog.Logger) *Log {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
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
		rows, err := tx.Query(ctx, `SELECT team_id FROM audit_pending WHERE refused = 0 ORDER BY team_id, id LIMIT $1`, rowsPerBlock)
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
	listed, err := readChain(ctx, tx, l.root, team)
	if err != nil {
		return false, err
	}
	next, err := nextLink(ctx, tx, team, listed)
	if err != nil {
		return false, err
	}
	read, err := l.readWaiting(ctx, tx, team)
	if err != nil {
		return false, err
	}
	full = len(read.ids)+len(read.refused) == rowsPerBlock
	if err := l.refuse(ctx, tx, team, read.refused); err != nil {
		return false, err
	}
	all := append(read.all, queued...)
	if len(all) == 0 {
		return full, nil
	}
	code, err := l.code(team, next, tx.Now(), all)
	if err != nil {
		return false, err
	}
	var b store.Batch
	b.Insert(nil, `INSERT INTO audit_blocks (team_id, number, made_at, entries, previous, code)`,
		[]any{team, next.number, tx.Now(), len(all), next.previous, code}, "")
	for i := range all {
		e := &all[i]
		b.Insert(nil, `INSERT INTO audit_log (team_id, block, n, at, actor_kind, actor, on_behalf_of, action, user_id, object_id, address, status, request_id)`,
			[]any{team, next.number, i, e.At, string(e.ActorKind), e.Actor, e.OnBehalfOf, e.Action, e.User, e.Object, e.Address, e.Status, e.RequestID}, "")
	}
	addForWaiting(&b, `DELETE FROM audit_pending WHERE team_id = $1 AND id IN `, team, read.ids)
	if err := tx.Run(ctx, &b); err != nil {
		return false, fmt.Errorf("audit: writing a block: %w", err)
	}
	switch {
	case listed == nil:
		var ends chain
		if ends, err = readEnds(ctx, tx, team); err == nil {
			err = list(ctx, tx, l.root, team, ends)
		}
	case listed.valid: // a changed entry stays as it is, so that Verify finds it
		listed.last = next.number
		err = listed.write(ctx, tx, l.root, team)
	}
	return full, err
}

// nextLink returns the place of the next block. A chain continues after the retention
// has removed all its blocks. A number is never used twice: if the
// newest blocks were removed by hand, a gap remains.
func nextLink(ctx context.Context, tx *store.Tx, team uuid.UUID, listed *chain) (next link, err error) {
	var b store.Batch
	b.Query(func(row store.Scanner) error { return row.Scan(&next.number, &next.previous) },
		`SELECT number, code FROM audit_blocks WHERE team_id = $1 ORDER BY number DESC LIMIT 1`, team)
	if err := tx.Run(ctx, &b); err != nil {
		return next, fmt.Errorf("audit: reading what comes before a block: %w", err)
	}
	if listed != nil && listed.valid {
		if next.number == 0 {
			next.previous = listed.previous
		}
		next.number = max(next.number, listed.last)
	}
	next.number++
	return next, nil
}

// waitingRows are rows of changes that wait for a block.
type waitingRows struct {
	ids     []uuid.UUID
	all     []Entry
	refused []uuid.UUID // without a valid code
}

func (l *Log) readWaiting(ctx context.Context, tx *store.Tx, team uuid.UUID) (w waitingRows, err error) {
	all, err := readListing(ctx, tx, l.root)
	if err != nil {
		return w, err
	}
	uncoded := tx.Engine() == store.Postgres && all.valid && tx.Now().Sub(all.begun) < uncodedTime
	var b store.Batch
	b.Query(func(row store.Scanner) error {
		var id uuid.UUID
		var body string
		var code []byte
		if err := row.Scan(&id, &body, &code); err != nil {
			return err
		}
		if !l.root.CheckCode(waitingText(team, id, body), code) && (code != nil || !uncoded) {
			w.refused = append(w.refused, id)
			return nil
		}
		e := Entry{Team: team}
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			return fmt.Errorf("audit: reading a row: %w", err)
		}
		w.ids, w.all = append(w.ids, id), append(w.all, e)
		return nil
	}, `SELECT id, body, code FROM audit_pending WHERE team_id = $1 AND refused = 0 ORDER BY id LIMIT $2`, team, rowsPerBlock)
	if err := tx.Run(ctx, &b); err != nil {
		return w, fmt.Errorf("audit: reading rows of changes: %w", err)
	}
	return w, nil
}

// addForWaiting adds statements that select waiting rows of a team. change is their text
// before the list of ids. They are few, because each selects many rows.
func addForWaiting(b *store.Batch, change string, team uuid.UUID, ids []uuid.UUID) {
	eachPart(ids, func(part []uuid.UUID) {
		args := make([]any, 1, 1+len(part))
		args[0] = team
		for _, id := range part {
			args = append(args, id)
		}
		b.Exec(nil, change+store.Placeholders(2, len(part)), args...)
	})
}

// eachPart calls fn with parts of a list whose lengths are a few different numbers.
func eachPart(ids []uuid.UUID, fn func(part []uuid.UUID)) {
	_ = store.Chunks(ids, []int{256, 64, 16, 4, 1}, func(part []uuid.UUID) error {
		fn(part)
		return nil
	})
}

// refuse marks waiting rows without a valid code. They stay for Verify.
func (l *Log) refuse(ctx context.Context, tx *store.Tx, team uuid.UUID, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	var b store.Batch
	addForWaiting(&b, `UPDATE audit_pending SET refused = 1 WHERE team_id = $1 AND id IN `, team, ids)
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("audit: refusing rows: %w", err)
	}
	tx.AfterCommit(func() {
		l.log.Error("rows of the audit log have no valid code and are refused: they were written or changed without the root key", "team", team, "rows", len(ids))
	})
	return nil
}

// code returns the code of a block.
func (l *Log) code(team uuid.UUID, at link, made time.Time, all []Entry) ([]byte, error) {
	text, err := blockText(team, at, made, all)
	if err != nil {
		return nil, err
	}
	return l.root.Code(text)
}

// blockText returns the text that the code of a block covers.
func blockText(team uuid.UUID, at link, made time.Time, all []Entry) ([]byte, error) {
	text := [][]byte{team[:], number(at.number), number(store.Micros(made)), at.previous}
	for i := range all {
		e := all[i]
		e.At = e.At.UTC().Truncate(time.Microsecond)
		row, err := json.Marshal(&e)
		if err != nil {
			return nil, fmt.Errorf("audit: encoding a row: %w", err)
		}
		text = append(text, row)
	}
	return parts(text...), nil
}
