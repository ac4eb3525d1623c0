package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/store"
)

const (
	numberAtOnce  = 1000
	numberSweep   = time.Second
	sequencerLock = "events.sequence"
)

// Sequencer gives events their numbers on PostgreSQL. Each node runs one; a
// lock lets one of them number at a time. SQLite numbers while writing, and
// there Run only waits.
type Sequencer struct {
	DB  *store.DB
	Log *slog.Logger // nil means none
}

// Run numbers what gets committed until ctx ends. Commits of this process are
// numbered at once, and those of a node that died in between within a second.
func (s *Sequencer) Run(ctx context.Context) error {
	if s.DB.Engine() == store.SQLite {
		<-ctx.Done()
		return nil
	}
	log := s.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	poke := make(chan struct{}, 1)
	remove := committed.add(func(uuid.UUID) {
		select {
		case poke <- struct{}{}:
		default:
		}
	})
	defer remove()
	sweep := time.NewTicker(numberSweep)
	defer sweep.Stop()
	for {
		if err := s.Settle(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "numbering events", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-poke:
		case <-sweep.C:
		}
	}
}

// Settle numbers everything that is committed now.
func (s *Sequencer) Settle(ctx context.Context) error {
	ctx = store.AsSystem(ctx)
	for {
		waiting, err := s.waiting(ctx)
		if err != nil || !waiting {
			return err
		}
		n, err := s.number(ctx)
		if err != nil {
			return err
		}
		if n < numberAtOnce {
			return nil
		}
	}
}

func (s *Sequencer) waiting(ctx context.Context) (found bool, err error) {
	err = s.DB.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM events WHERE seq IS NULL)`).Scan(&found)
	})
	if err != nil {
		return false, fmt.Errorf("events: looking for unnumbered events: %w", err)
	}
	return found, nil
}

// number gives the next numbers to what is visible, in order of id, which is
// about the order of time.
func (s *Sequencer) number(ctx context.Context) (n int, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		n = 0
		// The lock is a statement of its own: the next one then sees everything
		// that was committed, and numbered, before the lock was free.
		if err := tx.Lock(ctx, sequencerLock); err != nil {
			return err
		}
		if err := PreferIndexes(ctx, tx); err != nil {
			return err
		}
		teams, total, err := assign(ctx, tx)
		n = total
		tx.AfterCommit(func() {
			for team := range teams {
				ready.ring(team)
			}
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("events: numbering: %w", err)
	}
	return n, nil
}

func assign(ctx context.Context, tx *store.Tx) (teams map[uuid.UUID]bool, total int, err error) {
	rows, err := tx.Query(ctx, `UPDATE events SET seq = n.seq
		FROM (
			SELECT w.team_id, w.id, w.place + COALESCE((SELECT MAX(m.seq) FROM events m WHERE m.team_id = w.team_id), 0) AS seq
			FROM (
				SELECT u.team_id, u.id, ROW_NUMBER() OVER (PARTITION BY u.team_id ORDER BY u.id) AS place
				FROM (SELECT team_id, id FROM events WHERE seq IS NULL ORDER BY id LIMIT $1) AS u
			) AS w
		) AS n
		WHERE events.team_id = n.team_id AND events.id = n.id
		RETURNING events.team_id`, numberAtOnce)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	teams = map[uuid.UUID]bool{}
	for rows.Next() {
		var team uuid.UUID
		if err := rows.Scan(&team); err != nil {
			return nil, 0, errors.Join(err, rows.Close())
		}
		teams[team] = true
		total++
	}
	return teams, total, rows.Err()
}

// PreferIndexes makes PostgreSQL reach rows through indexes for the rest of
// the transaction. Statements that handle a batch of ids are prepared once and
// used for days: planned while a table is small, they would go on reading it
// whole when it is large. SQLite needs no such word.
func PreferIndexes(ctx context.Context, tx *store.Tx) error {
	if tx.Engine() == store.SQLite {
		return nil
	}
	_, err := tx.Exec(ctx, `SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`)
	return err
}
