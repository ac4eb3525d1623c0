package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/events"
	"hale/internal/store"
)

const (
	recordMost = 200
	recordWait = 2 * time.Millisecond
	// postponement is the wait after an attempt that could not be made.
	postponement = time.Minute
	// healthEvery is how often a success is written to a healthy endpoint.
	healthEvery = time.Minute
)

// record writes results and only then lets go of their rows. It does not
// return before they are on disk: a result that is lost would be a duplicate.
func (d *Deliverer) record(ctx context.Context, group []result) {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := d.db.Write(ctx, func(tx *store.Tx) error { return recordAll(ctx, tx, group) })
		if err == nil {
			break
		}
		d.cfg.Log.ErrorContext(ctx, "recording deliveries", "error", err)
		if errors.Is(err, store.ErrClosed) {
			return
		}
		time.Sleep(wait)
	}
	for i := range group {
		r := &group[i]
		r.line.release(r.parcel.hand(), r.retryAt)
		if r.fate == returned {
			r.line.poke(r.parcel.lane) // in case the line was opened again
		}
		if r.attempted() {
			d.cfg.Observe(Attempted{Outcome: r.fate.String(), Took: r.outcome.Took, Delay: r.ended.Sub(r.parcel.created)})
		}
	}
}

func (r *result) attempted() bool { return r.fate == sent || r.fate == retried || r.fate == failed }

// recordAll writes the attempts and the new states of a group.
func recordAll(ctx context.Context, tx *store.Tx, group []result) error {
	if err := events.PreferIndexes(ctx, tx); err != nil {
		return err
	}
	if err := recordSent(ctx, tx, group); err != nil {
		return err
	}
	for i := range group {
		r := &group[i]
		if r.fate == sent {
			continue
		}
		if err := recordOther(ctx, tx, r); err != nil {
			return err
		}
	}
	if err := recordAttempts(ctx, tx, group); err != nil {
		return err
	}
	return recordHealth(ctx, tx, group)
}

// widths are how many rows one statement takes. SQLite's driver looks up each
// parameter by its name, which makes wide statements dear; PostgreSQL pays for
// each round trip.
func widths(tx *store.Tx) []int {
	if tx.Engine() == store.SQLite {
		return []int{8, 4, 1}
	}
	return []int{64, 16, 4, 1}
}

// alike are successes that one UPDATE can record.
type alike struct {
	team     uuid.UUID
	endpoint EndpointID
	attempts int
	code     int
}

// recordSent writes successes. A row counts only while it is as it was claimed:
// if another node took over and recorded in between, its word stands. Pending
// rows are told by ended_at, not by state, which would invite PostgreSQL to
// read the whole backlog by the index of pending rows.
func recordSent(ctx context.Context, tx *store.Tx, group []result) error {
	var order []alike
	byKind := map[alike][]events.ID{}
	for i := range group {
		r := &group[i]
		if r.fate != sent {
			continue
		}
		k := alike{r.line.team, r.line.id, r.parcel.attempts, r.outcome.Code}
		if byKind[k] == nil {
			order = append(order, k)
		}
		byKind[k] = append(byKind[k], r.parcel.event)
	}
	for _, k := range order {
		err := events.Split(byKind[k], widths(tx), func(part []events.ID) error {
			args := []any{k.team, k.endpoint, k.attempts, k.code, store.Micros(tx.Now())}
			for _, id := range part {
				args = append(args, id)
			}
			_, err := tx.Exec(ctx, `UPDATE webhook_deliveries
				SET state = 'sent', attempts = attempts + 1, tries = tries + 1, code = $4, ended_at = $5, node = NULL
				WHERE team_id = $1 AND endpoint_id = $2 AND attempts = $3 AND ended_at IS NULL
				AND event_id IN `+store.List(6, len(part)), args...)
			return err
		})
		if err != nil {
			return fmt.Errorf("webhooks: recording successes: %w", err)
		}
	}
	return nil
}

// recordOther writes everything but a success.
func recordOther(ctx context.Context, tx *store.Tx, r *result) error {
	p := r.parcel
	key := []any{r.line.team, r.line.id, p.event, p.attempts}
	const mine = ` WHERE team_id = $1 AND endpoint_id = $2 AND event_id = $3 AND attempts = $4 AND ended_at IS NULL`
	var err error
	var n int64
	switch r.fate {
	case sent: // recorded with its like
	case returned:
		if tx.Engine() == store.Postgres {
			_, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET node = NULL`+mine, key...)
		}
	case postponed:
		r.retryAt = tx.Now().Add(postponement)
		_, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET lane = 1, due_at = $5, node = NULL`+mine, append(key, store.Micros(r.retryAt))...)
	case erased:
		_, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET state = 'failed', ended_at = $5, node = NULL`+mine, append(key, store.Micros(tx.Now()))...)
	case retried:
		_, err = tx.Exec(ctx, `UPDATE webhook_deliveries
			SET lane = 1, due_at = $5, attempts = attempts + 1, tries = tries + 1, code = $6, node = NULL`+mine,
			append(key, store.Micros(r.retryAt), codeOrNull(r.outcome.Code))...)
	case failed:
		n, err = tx.Exec(ctx, `UPDATE webhook_deliveries
			SET state = 'failed', ended_at = $5, attempts = attempts + 1, tries = tries + 1, code = $6, node = NULL`+mine,
			append(key, store.Micros(tx.Now()), codeOrNull(r.outcome.Code))...)
		if err == nil && n > 0 && r.exhausted != nil {
			_, err = events.Emit(ctx, tx, *r.exhausted)
		}
	}
	if err != nil {
		return fmt.Errorf("webhooks: recording an attempt: %w", err)
	}
	return nil
}

const attemptColumns = 11

// recordAttempts adds to the log. An attempt whose number is taken already was
// made by a node that had lost its lease; the first to record counts.
func recordAttempts(ctx context.Context, tx *store.Tx, group []result) error {
	made := make([]*result, 0, len(group))
	for i := range group {
		if group[i].attempted() {
			made = append(made, &group[i])
		}
	}
	return events.Split(made, widths(tx), func(part []*result) error {
		args := make([]any, 0, attemptColumns*len(part))
		for _, r := range part {
			answer, err := sealAnswer(ctx, tx, r)
			if err != nil {
				return err
			}
			args = append(args, r.line.team, r.line.id, r.parcel.event, r.parcel.attempts+1, r.target,
				store.Micros(r.at), r.outcome.Took.Microseconds(), codeOrNull(r.outcome.Code),
				string(r.outcome.Problem), r.signature, answer)
		}
		_, err := tx.Exec(ctx, attemptInsert(len(part)), args...)
		if err != nil {
			return fmt.Errorf("webhooks: logging attempts: %w", err)
		}
		return nil
	})
}

func attemptInsert(rows int) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO webhook_attempts (team_id, endpoint_id, event_id, n, target, at, took, code, problem, signature, answer) VALUES `)
	for i := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(store.List(1+i*attemptColumns, attemptColumns))
	}
	b.WriteString(` ON CONFLICT (event_id, endpoint_id, n, team_id) DO NOTHING`)
	return b.String()
}

func answerPlace(endpoint EndpointID, event events.ID, n int) string {
	return fmt.Sprintf("webhook_attempts.answer:%s:%s:%d", endpoint, event, n)
}

// sealAnswer seals with the key of the user, so that erasing the user erases
// what a receiver may have repeated.
func sealAnswer(ctx context.Context, tx *store.Tx, r *result) (any, error) {
	if len(r.outcome.Answer) == 0 {
		return nil, nil
	}
	return tx.Seal(ctx, r.line.team, r.parcel.user, answerPlace(r.line.id, r.parcel.event, r.parcel.attempts+1), r.outcome.Answer)
}
