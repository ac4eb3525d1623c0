package events

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

const (
	numberAtOnce      = 1000
	numberSweep       = time.Second
	takeSequencerLock = `SELECT pg_advisory_xact_lock(hashtextextended('events.sequence', 0))`
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
		for poked := false; !poked; {
			select {
			case <-ctx.Done():
				return nil
			case <-poke:
				poked = true
			case <-sweep.C:
				poked = s.waiting(ctx)
			}
		}
	}
}

// Settle numbers everything that is committed now. On SQLite it is numbered.
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

// waiting tells whether the sweep found something. An error counts as yes:
// numbering will meet it again and report it.
func (s *Sequencer) waiting(ctx context.Context) (found bool) {
	ctx = store.AsSystem(ctx)
	err := s.DB.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM events WHERE seq IS NULL)`).Scan(&found)
	})
	return found || err != nil
}

// number gives the next numbers to what is visible, in the order in which it was
// written. That is the order of what it tells of too: who writes an event holds
// what the event is about, so that nobody else's can follow before the commit.
// Neither the ids of events nor those of transactions are in that order: ids go
// by the clocks of nodes, and a transaction may begin first and wait.
func (s *Sequencer) number(ctx context.Context) (n int, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		n = 0
		// The lock comes before the statement that reads, which then sees all that
		// was committed, and numbered, before the lock was free.
		if err := PreferIndexes(ctx, tx, takeSequencerLock); err != nil {
			return err
		}
		teams, total, err := assign(ctx, tx)
		n = total
		tx.AfterCommit(func() {
			for team := range teams {
				ready.ring(team)
				due.ring(team)
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
type unnumbered struct {
	team, id uuid.UUID
	last     int64 // greatest number of the team so far
}

func assign(ctx context.Context, tx *store.Tx) (teams map[uuid.UUID]int64, total int, err error) {
	all, err := readUnnumbered(ctx, tx)
	if err != nil {
		return nil, 0, err
	}
	teams = map[uuid.UUID]int64{}
	numbers := make([]int64, len(all))
	for i, e := range all {
		numbers[i] = max(teams[e.team], e.last) + 1
		teams[e.team] = numbers[i]
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
	rows, err := tx.Query(ctx, `SELECT u.team_id, u.id, COALESCE((
			SELECT m.seq FROM events m WHERE m.team_id = u.team_id AND m.seq IS NOT NULL ORDER BY m.seq DESC LIMIT 1), 0)
		FROM (SELECT team_id, id, turn FROM events WHERE seq IS NULL ORDER BY turn LIMIT $1) AS u ORDER BY u.turn`, numberAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []unnumbered
	for rows.Next() {
		var e unnumbered
		if err := rows.Scan(&e.team, &e.id, &e.last); err != nil {
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

// addNumbered takes the sequencer's lock, numbers what the team has committed
// without a number, and writes the rows with the numbers that follow: no event is
// overtaken by one of a transaction that began after it was committed. Mostly none
// waits, and this is one look into the index of those that do. The statement reads
// after the lock is taken and so sees all that was committed before.
//
// The work of an outage is not for this transaction, which others wait for: where
// more than numberAtOnce wait, nothing gets a number here. The rows are written in
// their turn, and the sequencer comes to them after what was before. It is decided
// once for all rows, whose seq is 0 then.
func addNumbered(tx *store.Tx, b *store.Batch, rows []written, earlier *int64) {
	b.Exec(nil, takeSequencerLock+preferTeam)
	place := make(map[ID]int, len(rows))
	for i := range rows {
		place[rows[i].id] = i
	}
	b.Query(func(row store.Scanner) error {
		var id ID
		var seq *int64
		if err := row.Scan(&id, &seq, earlier); err != nil {
			return err
		}
		w := &rows[place[id]]
		if w.seq = 0; seq != nil {
			w.seq = *seq
		}
		return nil
	}, writeNumbered, append(arraysOf(tx, rows), numberAtOnce)...)
}

// preferTeam goes on with a SELECT and makes PostgreSQL take that index of what
// waits which has the fewest rows to look at, the team's: what is new is in
// memory, so its order on the disk, which may speak for another one, is nothing.
const preferTeam = `, set_config('enable_seqscan', 'off', TRUE), set_config('enable_bitmapscan', 'off', TRUE),
	set_config('enable_hashjoin', 'off', TRUE), set_config('enable_mergejoin', 'off', TRUE),
	set_config('seq_page_cost', '0', TRUE), set_config('random_page_cost', '0', TRUE)`

// writeNumbered has the parameters of arraysOf, and how many may get their
// numbers beside the rows.
const writeNumbered = `WITH waiting AS MATERIALIZED (
		SELECT id, turn FROM events WHERE team_id = $1 AND seq IS NULL ORDER BY turn LIMIT $8 + 1),
	has AS MATERIALIZED (
		SELECT COUNT(*) AS n, COALESCE((SELECT MAX(seq) FROM events WHERE team_id = $1), 0) AS last FROM waiting),
	earlier AS (UPDATE events SET seq = u.seq
		FROM (SELECT w.id, has.last + ROW_NUMBER() OVER (ORDER BY w.turn) AS seq FROM waiting w, has WHERE has.n <= $8) AS u
		WHERE events.id = u.id AND events.team_id = $1),
	added AS (INSERT INTO events (` + eventColumns + `)
		SELECT $1, n.id, n.user_id, n.type, n.size, $2, n.body, CASE WHEN has.n <= $8 THEN has.last + has.n + n.place END
		FROM ` + fromArrays + `, has RETURNING id, seq)
	SELECT added.id, added.seq, has.n FROM added, has`

// PreferIndexes makes PostgreSQL reach rows through indexes, and in their
// order, for the rest of the transaction, and plan each statement for the tables as they are now.
// Statements that handle a batch of ids are prepared once and used for days:
// planned while a table is small, they would go on reading it whole when it is
// large. A node that vanishes from the network in the middle gives its locks up
// after ten seconds. SQLite needs no such words. More statements, without parameters and for
// PostgreSQL alone, may share the round trip.
func PreferIndexes(ctx context.Context, tx *store.Tx, more ...string) error {
	if tx.Engine() == store.SQLite {
		return nil
	}
	words := append([]string{
		`SET LOCAL plan_cache_mode = force_custom_plan`, `SET LOCAL enable_seqscan = off`,
		`SET LOCAL enable_bitmapscan = off`, `SET LOCAL enable_sort = off`,
		`SET LOCAL enable_hashjoin = off`, `SET LOCAL enable_mergejoin = off`,
		`SET LOCAL idle_in_transaction_session_timeout = '10s'`,
	}, more...)
	_, err := tx.Exec(ctx, strings.Join(words, "; "))
	return err
}

// AddPreferIndexes is PreferIndexes as the first statement of a batch.
func AddPreferIndexes(tx *store.Tx, b *store.Batch) {
	if tx.Engine() == store.SQLite {
		return
	}
	b.Query(func(store.Scanner) error { return nil }, `SELECT set_config('plan_cache_mode', 'force_custom_plan', TRUE),
		set_config('enable_seqscan', 'off', TRUE), set_config('enable_bitmapscan', 'off', TRUE), set_config('enable_sort', 'off', TRUE),
		set_config('enable_hashjoin', 'off', TRUE), set_config('enable_mergejoin', 'off', TRUE),
		set_config('idle_in_transaction_session_timeout', '10s', TRUE)`)
}
