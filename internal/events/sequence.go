package events

import (
	"context"
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

// unnumbered is an event that waits for its number.
type unnumbered struct{ team, id uuid.UUID }

func assign(ctx context.Context, tx *store.Tx) (teams map[uuid.UUID]int64, total int, err error) {
	all, err := readUnnumbered(ctx, tx)
	if err != nil {
		return nil, 0, err
	}
	teams = map[uuid.UUID]int64{}
	numbers := make([]int64, len(all))
	for i, e := range all {
		last, known := teams[e.team]
		if !known {
			if last, err = LastNumber(ctx, tx, e.team); err != nil {
				return nil, 0, err
			}
		}
		numbers[i] = last + 1
		teams[e.team] = last + 1
	}
	for from := 0; from < len(all); from += numberWidth {
		to := min(from+numberWidth, len(all))
		if err := writeNumbers(ctx, tx, all[from:to], numbers[from:to]); err != nil {
			return nil, 0, err
		}
	}
	return teams, len(all), nil
}

func readUnnumbered(ctx context.Context, tx *store.Tx) ([]unnumbered, error) {
	rows, err := tx.Query(ctx, `SELECT team_id, id FROM events WHERE seq IS NULL ORDER BY id LIMIT $1`, numberAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []unnumbered
	for rows.Next() {
		var e unnumbered
		if err := rows.Scan(&e.team, &e.id); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

// numberWidth is how many rows one statement numbers. The list of ids stands
// in it twice so that every order of joining begins with few rows.
const numberWidth = 64

func writeNumbers(ctx context.Context, tx *store.Tx, part []unnumbered, numbers []int64) error {
	ids := make([][16]byte, len(part))
	for i, e := range part {
		ids[i] = e.id
	}
	_, err := tx.Exec(ctx, `UPDATE events SET seq = n.seq
		FROM UNNEST($1::uuid[], $2::bigint[]) AS n(id, seq)
		WHERE events.id = n.id AND events.id = ANY ($1::uuid[])`, ids, numbers)
	return err
}

// PreferIndexes makes PostgreSQL reach rows through indexes for the rest of
// the transaction, and plan each statement for the tables as they are now.
// Statements that handle a batch of ids are prepared once and used for days:
// planned while a table is small, they would go on reading it whole when it is
// large. SQLite needs no such word.
func PreferIndexes(ctx context.Context, tx *store.Tx) error {
	if tx.Engine() == store.SQLite {
		return nil
	}
	_, err := tx.Exec(ctx, `SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_seqscan = off;
		SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`)
	return err
}
