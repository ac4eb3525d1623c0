package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

const (
	recordMost = 200
	recordWait = 2 * time.Millisecond
	// postponement is the least wait after an attempt that could not be made.
	postponement = time.Minute
	// healthEvery is how often a success is written to a healthy endpoint.
	healthEvery = time.Minute
)

// record writes results and only then lets go of their rows. It does not return
// before they are on disk, since a result that is lost would be a duplicate, or
// set aside.
func (d *Deliverer) record(ctx context.Context, group []result) {
	left := group
	for wait := 10 * time.Millisecond; len(left) > 0; wait = min(2*wait, time.Second) {
		err := d.write(ctx, left, recordAll)
		if err == nil {
			d.letGo(left)
			return
		}
		d.cfg.Log.ErrorContext(ctx, "recording deliveries", "error", err)
		if errors.Is(err, store.ErrClosed) {
			return
		}
		if d.db.Ping(ctx) == nil {
			left = d.oneByOne(ctx, left)
		}
		time.Sleep(wait)
	}
}

func (d *Deliverer) write(ctx context.Context, group []result, how func(context.Context, *store.Tx, []result) error) error {
	return d.db.Write(ctx, func(tx *store.Tx) error { return how(ctx, tx, group) })
}

// letGo frees the rows of results that are recorded.
func (d *Deliverer) letGo(group []result) {
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

// recordAll writes the attempts and the new states of a group, and what they say
// of their endpoints.
func recordAll(ctx context.Context, tx *store.Tx, group []result) error {
	if err := recordDeliveries(ctx, tx, group); err != nil {
		return err
	}
	return recordHealth(ctx, tx, group)
}

// recordDeliveries writes the attempts and the new states of a group.
func recordDeliveries(ctx context.Context, tx *store.Tx, group []result) error {
	var b store.Batch
	events.AddPreferIndexes(tx, &b)
	addSent(tx, &b, group)
	if err := addAttempts(ctx, tx, &b, group); err != nil {
		return err
	}
	if err := tx.Run(ctx, &b); err != nil {
		return fmt.Errorf("webhooks: recording: %w", err)
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
	return nil
}

// widths are how many rows one statement changes on SQLite: few texts to
// prepare. PostgreSQL takes arrays.
var widths = []int{32, 8, 2, 1}

// alike are successes that one UPDATE can record.
type alike struct {
	team     uuid.UUID
	endpoint EndpointID
	attempts int
	code     int
}

// addSent adds the writing of successes. A row counts only while it is as it was
// claimed: if another node took over and recorded in between, its word stands.
// Pending rows are told by ended_at, not by state, which would invite PostgreSQL
// to read the whole backlog by the index of pending rows.
func addSent(tx *store.Tx, b *store.Batch, group []result) {
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
	const update = `UPDATE webhook_deliveries
		SET state = 'sent', attempts = attempts + 1, tries = tries + 1, code = $1, ended_at = $2, node = NULL
		WHERE team_id = $3 AND endpoint_id = $4 AND attempts = $5 AND ended_at IS NULL AND event_id `
	for _, k := range order {
		args := []any{k.code, store.Micros(tx.Now()), k.team, k.endpoint, k.attempts}
		if tx.Engine() == store.Postgres {
			b.Exec(nil, update+`= ANY ($6::uuid[])`, append(args, arrayOf(byKind[k]))...)
			continue
		}
		_ = store.Split(byKind[k], widths, func(part []events.ID) error {
			args := args[:5:5]
			for _, id := range part {
				args = append(args, id)
			}
			b.Exec(nil, update+`IN `+store.List(6, len(part)), args...)
			return nil
		})
	}
}

func arrayOf(ids []events.ID) [][16]byte {
	all := make([][16]byte, len(ids))
	for i, id := range ids {
		all[i] = id
	}
	return all
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
		_, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET lane = 1, due_at = $5, node = NULL`+mine, append(key, store.Micros(r.retryAt))...)
	case erased, unreadable:
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
			err = announce(ctx, tx, r)
		}
	}
	if err != nil {
		return fmt.Errorf("webhooks: recording an attempt: %w", err)
	}
	return nil
}

// announce tells of a failure for good, unless the user it is about was erased
// while the delivery was in hand.
func announce(ctx context.Context, tx *store.Tx, r *result) error {
	known, err := tx.HasKey(ctx, r.line.team, r.parcel.user)
	if err == nil && known {
		_, err = events.Emit(ctx, tx, *r.exhausted)
	}
	return err
}

const (
	attemptInto = `INSERT INTO webhook_attempts (team_id, endpoint_id, event_id, n, target, at, took, code, problem, signature, answer) `
	attemptOnce = ` ON CONFLICT (event_id, endpoint_id, n, team_id) DO NOTHING`
)

// logged is a row of the log of attempts.
type logged struct {
	team, endpoint, event uuid.UUID
	n, target, at, took   int64
	code                  *int64 // nil when no answer came
	problem, signature    string
	answer                []byte // sealed; nil when there is none
}

func (l *logged) args() []any {
	var answer any
	if l.answer != nil {
		answer = l.answer
	}
	return []any{l.team, l.endpoint, l.event, l.n, l.target, l.at, l.took, l.code, l.problem, l.signature, answer}
}

func (r *result) logged(ctx context.Context, tx *store.Tx) (logged, error) {
	answer, err := sealAnswer(ctx, tx, r)
	l := logged{
		team: r.line.team, endpoint: uuid.UUID(r.line.id), event: uuid.UUID(r.parcel.event),
		n: int64(r.parcel.attempts + 1), target: r.target, at: store.Micros(r.at), took: r.outcome.Took.Microseconds(),
		problem: string(r.outcome.Problem), signature: r.signature, answer: answer,
	}
	if r.outcome.Code != 0 {
		code := int64(r.outcome.Code)
		l.code = &code
	}
	return l, err
}

// addAttempts adds to the log. An attempt whose number is taken already was
// made by a node that had lost its lease; the first to record counts.
func addAttempts(ctx context.Context, tx *store.Tx, b *store.Batch, group []result) error {
	rows := make([]logged, 0, len(group))
	for i := range group {
		if !group[i].attempted() {
			continue
		}
		row, err := group[i].logged(ctx, tx)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if tx.Engine() == store.Postgres {
		addAttemptArrays(b, rows)
		return nil
	}
	for i := range rows {
		b.Insert(nil, attemptInto, rows[i].args(), attemptOnce)
	}
	return nil
}

// addAttemptArrays writes any number of rows with one text.
func addAttemptArrays(b *store.Batch, rows []logged) {
	if len(rows) == 0 {
		return
	}
	var teams, endpoints, ids [][16]byte
	var ns, targets, ats, tooks []int64
	var codes []*int64
	var problems, signatures []string
	var answers [][]byte
	for i := range rows {
		l := &rows[i]
		teams, endpoints, ids = append(teams, l.team), append(endpoints, l.endpoint), append(ids, l.event)
		ns, targets, ats, tooks = append(ns, l.n), append(targets, l.target), append(ats, l.at), append(tooks, l.took)
		codes, problems, signatures = append(codes, l.code), append(problems, l.problem), append(signatures, l.signature)
		answers = append(answers, l.answer)
	}
	b.Exec(nil, attemptInto+`SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[],
		$7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::bytea[])`+attemptOnce,
		teams, endpoints, ids, ns, targets, ats, tooks, codes, problems, signatures, answers)
}

func answerPlace(endpoint EndpointID, event events.ID, n int) string {
	return fmt.Sprintf("webhook_attempts.answer:%s:%s:%d", endpoint, event, n)
}

// sealAnswer seals with the key of the user, so that erasing the user erases
// what a receiver may have repeated. Of somebody who was erased while the
// delivery was in hand nothing is kept.
func sealAnswer(ctx context.Context, tx *store.Tx, r *result) ([]byte, error) {
	if len(r.outcome.Answer) == 0 {
		return nil, nil
	}
	if known, err := tx.HasKey(ctx, r.line.team, r.parcel.user); err != nil || !known {
		return nil, err
	}
	return tx.Seal(ctx, r.line.team, r.parcel.user, answerPlace(r.line.id, r.parcel.event, r.parcel.attempts+1), r.outcome.Answer)
}
