package events

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

const (
	numberAtOnce = 1000
	numberSweep  = time.Second
)

// Sequencer gives events their numbers on PostgreSQL. Each node runs one; a
// lock lets one of them number at a time. SQLite numbers while writing, and
// there Run only waits.
type Sequencer struct {
	DB  *store.DB
	Log *slog.Logger // nil means none
}

// Run gives committed events their numbers until ctx ends. Events of this process
// get their numbers at once. Events of a node that died before it numbered them get
// their numbers within a second.
func (s *Sequencer) Run(ctx context.Context) error {
	if s.DB.Engine() == store.SQLite {
		<-ctx.Done()
		return nil
	}
	log := s.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	wake := make(chan struct{}, 1)
	defer s.DB.OnCommit(writtenTopic, func(uuid.UUID) {
		select {
		case wake <- struct{}{}:
		default:
		}
	})()
	sweep := time.NewTicker(numberSweep)
	defer sweep.Stop()
	for {
		if err := s.Settle(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "events cannot be numbered", "error", err)
		}
		for woken := false; !woken; {
			select {
			case <-ctx.Done():
				return nil
			case <-wake:
				woken = true
			case <-sweep.C:
				woken = s.waiting(ctx)
			}
		}
	}
}

// Settle numbers every event that is committed now. On SQLite it does nothing.
func (s *Sequencer) Settle(ctx context.Context) error {
	if s.DB.Engine() == store.SQLite {
		return nil
	}
	ctx = store.AsSystem(ctx)
	for {
		n, err := s.number(ctx)
		if err != nil || n < numberAtOnce {
			return err
		}
	}
}

// waiting reports whether events wait for their numbers. An error counts as yes:
// numbering will meet it again and report it.
func (s *Sequencer) waiting(ctx context.Context) (found bool) {
	ctx = store.AsSystem(ctx)
	err := s.DB.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM events WHERE seq IS NULL)`).Scan(&found)
	})
	return found || err != nil
}

const (
	takeSequencerLock = `SELECT pg_advisory_xact_lock(hashtextextended('events.sequence', 0))`

	// assignNumbers numbers the events that were written first, and returns their
	// teams. turn counts events in the order in which they were written. The last
	// number of each team is read once: read for each event, it would step over all
	// numbers that the statement has just written.
	assignNumbers = `WITH waiting AS MATERIALIZED (SELECT id, team_id, turn FROM events WHERE seq IS NULL ORDER BY turn LIMIT $1),
	last AS MATERIALIZED (SELECT t.team_id, COALESCE((
			SELECT m.seq FROM events m WHERE m.team_id = t.team_id AND m.seq IS NOT NULL ORDER BY m.seq DESC LIMIT 1), 0) AS seq
		FROM (SELECT DISTINCT team_id FROM waiting) AS t)
	UPDATE events SET seq = n.seq
	FROM (SELECT w.id, w.team_id, last.seq + ROW_NUMBER() OVER (PARTITION BY w.team_id ORDER BY w.turn) AS seq
		FROM waiting w JOIN last ON last.team_id = w.team_id) AS n
	WHERE events.id = n.id AND events.team_id = n.team_id
	RETURNING events.team_id`
)

// number gives the next numbers to the visible events, in the order in which they
// were written. That is also the order of the changes. A transaction that emits an
// event has locked the object of the event, so no later change of the object is
// written before the commit. Ids of events and of transactions do not have that
// order. Ids of events follow the clocks of nodes, and a transaction may begin first
// and wait for a lock.
func (s *Sequencer) number(ctx context.Context) (n int, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		n = 0
		var b store.Batch
		AddKeepPlans(tx, &b)
		// The next statement begins when the lock is free, and sees everything that
		// was committed, and numbered, before.
		b.Exec(nil, takeSequencerLock)
		b.Query(func(row store.Scanner) error {
			var team uuid.UUID
			if err := row.Scan(&team); err != nil {
				return err
			}
			n++
			tx.Notify(numberedTopic, team)
			return nil
		}, assignNumbers, numberAtOnce)
		return tx.Finish(ctx, &b)
	})
	if err != nil {
		return 0, fmt.Errorf("events: numbering: %w", err)
	}
	return n, nil
}

// PreferIndexes makes PostgreSQL reach rows through indexes, and in their order,
// for the rest of the transaction. PostgreSQL also plans each statement for the
// tables as they are now. Statements that handle a batch of ids are prepared once
// and used for days. A plan for a small table would read the whole table when it
// is large. A node that vanishes from the network in the middle loses its locks
// after ten seconds. SQLite needs none of this.
func PreferIndexes(ctx context.Context, tx *store.Tx) error {
	var b store.Batch
	AddPreferIndexes(tx, &b)
	return tx.Run(ctx, &b)
}

// AddPreferIndexes adds the settings of PreferIndexes as the first statement of a batch.
func AddPreferIndexes(tx *store.Tx, b *store.Batch) { addPlanSettings(tx, b, "force_custom_plan") }

// AddKeepPlans adds settings like AddPreferIndexes, for statements with only one possible
// plan through the indexes, whatever the size of the tables. PostgreSQL keeps their
// plans, because planning them costs as much as running them.
func AddKeepPlans(tx *store.Tx, b *store.Batch) { addPlanSettings(tx, b, "force_generic_plan") }

func addPlanSettings(tx *store.Tx, b *store.Batch, mode string) {
	if tx.Engine() == store.SQLite {
		return
	}
	b.Query(func(store.Scanner) error { return nil }, `SELECT set_config('plan_cache_mode', $1, TRUE),
		set_config('enable_seqscan', 'off', TRUE), set_config('enable_bitmapscan', 'off', TRUE), set_config('enable_sort', 'off', TRUE),
		set_config('enable_hashjoin', 'off', TRUE), set_config('enable_mergejoin', 'off', TRUE),
		set_config('idle_in_transaction_session_timeout', '10s', TRUE)`, mode)
}

// latestByTeam has the greatest numbers of teams on SQLite, where one process numbers all
// events. It saves reads a query.
var latestByTeam = store.NewSlot(func() *latestNumbers { return &latestNumbers{of: map[uuid.UUID]int64{}} })

type latestNumbers struct {
	mu sync.Mutex
	of map[uuid.UUID]int64
}

// note records a number. Notes may come in any order.
func (l *latestNumbers) note(team uuid.UUID, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[team] = max(l.of[team], number)
}

func (l *latestNumbers) get(team uuid.UUID) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.of[team]
	return n, ok
}

// LatestNumber returns the greatest number of a team's events. Every later transaction sees
// the changes of all events up to it.
func LatestNumber(ctx context.Context, db *store.DB, team uuid.UUID) (n int64, err error) {
	cache := latestByTeam.Of(db)
	if n, ok := cache.get(team); ok {
		return n, nil
	}
	err = db.Peek(ctx, func(tx *store.Tx) error {
		n, err = LastNumber(ctx, tx, team)
		return err
	})
	if err == nil && db.Engine() == store.SQLite {
		cache.note(team, n)
	}
	return n, err
}
