package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// Position is the place of a row in its team's log.
type Position struct {
	Block int64 `json:"block"`
	N     int64 `json:"n"`
}

// Row is a stored row.
type Row struct {
	Position
	Entry
}

// Filter selects rows. Zero fields select all.
type Filter struct {
	Users      []uuid.UUID // any when empty, as for the other lists
	ActorKinds []ActorKind
	Actors     []string
	OnBehalfOf string
	Actions    []string
	From, To   *time.Time // both are included
	Before     *Position  // rows before this one
	Limit      int
}

// lag is the time within which a row is in a block. A node that was stopped writes the
// rows of its changes when it starts again; those may be later.
const lag = time.Hour

// scanLimit is the number of rows that one List with a filter without an index looks at.
const scanLimit = 10_000

// List returns rows of a team, newest first, and the position of the next page, nil at
// the end. A page may have fewer rows than the limit before the end, because only the
// person and the times have an index.
func List(ctx context.Context, tx *store.Tx, team uuid.UUID, f Filter) (page []Row, next *Position, err error) {
	where, args := "team_id = $1", []any{team}
	add := func(condition string, values ...any) {
		for i := range values {
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)+1+i), 1)
		}
		where, args = where+" AND "+condition, append(args, values...)
	}
	where += store.AmongValues(&args, "user_id", f.Users)
	if f.From != nil {
		add("at >= ?", *f.From)
		add("block >= (SELECT COALESCE(MIN(number), 0) FROM audit_blocks WHERE team_id = $1 AND made_at >= ?)", *f.From)
	}
	if f.To != nil {
		add("at <= ?", *f.To)
		add("block <= COALESCE((SELECT MIN(number) FROM audit_blocks WHERE team_id = $1 AND made_at >= ?), 9223372036854775807)", f.To.Add(lag))
	}
	if f.Before != nil {
		add("(block, n) < (?, ?)", f.Before.Block, f.Before.N)
	}
	limit := f.Limit + 1
	if f.hasFilter() {
		limit = max(limit, scanLimit)
	}
	args = append(args, limit)
	rows, err := readRows(ctx, tx, fmt.Sprintf("WHERE %s ORDER BY block DESC, n DESC LIMIT $%d", where, len(args)), args...)
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		if len(page) == f.Limit {
			return page, &rows[i-1].Position, nil
		}
		if f.wants(&rows[i].Entry) {
			page = append(page, rows[i])
		}
	}
	if len(rows) == limit {
		next = &rows[len(rows)-1].Position
	}
	return page, next, nil
}

// hasFilter reports whether there are conditions without an index.
func (f *Filter) hasFilter() bool {
	return f.ActorKinds != nil || f.Actors != nil || f.OnBehalfOf != "" || f.Actions != nil
}

func (f *Filter) wants(e *Entry) bool {
	return (f.ActorKinds == nil || slices.Contains(f.ActorKinds, e.ActorKind)) && (f.Actors == nil || slices.Contains(f.Actors, e.Actor)) &&
		(f.OnBehalfOf == "" || f.OnBehalfOf == e.OnBehalfOf) && (f.Actions == nil || slices.Contains(f.Actions, e.Action))
}

func readRows(ctx context.Context, tx *store.Tx, where string, args ...any) (all []Row, err error) {
	rows, err := tx.Query(ctx, `SELECT team_id, block, n, at, actor_kind, actor, on_behalf_of, action, user_id, object_id, address, status, request_id FROM audit_log `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("audit: reading rows: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r Row
		if err := rows.Scan(&r.Team, &r.Block, &r.N, store.ScanTime(&r.At), &r.ActorKind, &r.Actor, &r.OnBehalfOf, &r.Action, &r.User, &r.Object, &r.Address, &r.Status, &r.RequestID); err != nil {
			return nil, fmt.Errorf("audit: reading rows: %w", err)
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// blocksPerForget bounds a transaction of Forget.
const blocksPerForget = 200

// Forget removes the oldest blocks of each team that were made before a time. It
// returns how many rows it removed.
func (l *Log) Forget(ctx context.Context, before time.Time) (n int64, err error) {
	ctx = store.AsSystem(ctx)
	teams, err := l.Teams(ctx)
	if err != nil {
		return 0, err
	}
	for _, team := range teams {
		for more := true; more; {
			err := l.db.Write(ctx, func(tx *store.Tx) (err error) {
				more, err = l.forgetBlocks(ctx, tx, team, before, &n)
				return err
			})
			if err != nil {
				return n, fmt.Errorf("audit: removing old blocks: %w", err)
			}
		}
	}
	return n, nil
}

// forgetBlocks removes some of the oldest blocks of a team, and lists where its chain
// begins now. more means that others may be old enough.
func (l *Log) forgetBlocks(ctx context.Context, tx *store.Tx, team uuid.UUID, before time.Time, n *int64) (more bool, err error) {
	if err := tx.Lock(ctx, "audit:"+team.String()); err != nil {
		return false, err
	}
	listed, err := readChain(ctx, tx, l.root, team)
	if err != nil {
		return false, err
	}
	var old []link // with the code of each
	var b store.Batch
	newer := false
	b.Query(func(row store.Scanner) error {
		var one link
		var made time.Time
		if err := row.Scan(&one.number, &one.previous, store.ScanTime(&made)); err != nil {
			return err
		}
		if newer = newer || !made.Before(before); !newer {
			old = append(old, one)
		}
		return nil
	}, `SELECT number, code, made_at FROM audit_blocks WHERE team_id = $1 ORDER BY number LIMIT $2`, team, blocksPerForget)
	if err := tx.Run(ctx, &b); err != nil || len(old) == 0 {
		return false, err
	}
	for _, one := range old {
		b.Exec(n, `DELETE FROM audit_log WHERE team_id = $1 AND block = $2`, team, one.number)
		b.Exec(nil, `DELETE FROM audit_blocks WHERE team_id = $1 AND number = $2`, team, one.number)
	}
	if err := tx.Run(ctx, &b); err != nil {
		return false, err
	}
	// Blocks that were removed by hand leave their trace: the list moves only if the
	// oldest block is the one that the list names.
	if listed != nil && listed.valid && listed.first == old[0].number {
		last := old[len(old)-1]
		listed.first, listed.previous, listed.last = last.number+1, last.previous, max(listed.last, last.number)
		err = listed.write(ctx, tx, l.root, team)
	}
	return len(old) == blocksPerForget, err
}
