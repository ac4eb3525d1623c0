package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
)

const (
	recordMost = 200
	recordWait = 2 * time.Millisecond
	// postponement is the least wait before an attempt that could not be made is retried.
	postponement = time.Minute
	// healthEvery is the interval between two writes of a healthy endpoint's health.
	healthEvery = time.Minute
)

// record writes results, and then releases their deliveries. It returns when each
// result is on disk or set aside, because a lost result would cause a duplicate.
func (d *Deliverer) record(ctx context.Context, group []result) {
	left := group
	for wait := 10 * time.Millisecond; len(left) > 0; wait = min(2*wait, time.Second) {
		err := d.write(ctx, left, recordAll)
		if err == nil {
			d.release(left)
			return
		}
		d.cfg.Log.ErrorContext(ctx, "deliveries cannot be recorded", "error", err)
		if errors.Is(err, store.ErrClosed) {
			return
		}
		if d.db.Ping(ctx) == nil {
			left = d.recordEach(ctx, left)
		}
		time.Sleep(wait)
	}
}

func (d *Deliverer) write(ctx context.Context, group []result, how func(context.Context, *store.Tx, []result) error) error {
	return d.db.Write(ctx, func(tx *store.Tx) error { return how(ctx, tx, group) })
}

// release ends the claims of deliveries whose results are recorded.
func (d *Deliverer) release(group []result) {
	for i := range group {
		r := &group[i]
		r.queue.release(r.delivery.key(), r.retryAt)
		if r.attempted() {
			d.cfg.Observe(AttemptResult{Outcome: r.verdict.String(), Took: r.outcome.Took, Delay: r.ended.Sub(r.delivery.created)})
		}
	}
}

func (r *result) attempted() bool {
	return r.verdict == sent || r.verdict == retried || r.verdict == failed
}

// recordAll writes the attempts and the new states of a group, and the health of its
// endpoints.
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
		if r.verdict == sent {
			continue
		}
		if err := recordOther(ctx, tx, r); err != nil {
			return err
		}
	}
	return nil
}

// updateWidths lists how many rows one statement updates on SQLite: few texts to
// prepare. PostgreSQL accepts arrays.
var updateWidths = []int{32, 8, 2, 1}

// sentGroup identifies successes that one UPDATE records.
type sentGroup struct {
	team     uuid.UUID
	endpoint EndpointID
	attempts int
	code     int
}

// addSent adds the statements that record successes. A row changes only if it is as it
// was claimed: if another node took over and recorded meanwhile, its result counts.
// ended_at selects the pending rows; state would make PostgreSQL read the whole backlog
// through the index of pending rows.
func addSent(tx *store.Tx, b *store.Batch, group []result) {
	var groups []sentGroup
	ids := map[sentGroup][]events.ID{}
	for i := range group {
		r := &group[i]
		if r.verdict != sent {
			continue
		}
		g := sentGroup{r.queue.team, r.queue.id, r.delivery.attempts, r.outcome.Code}
		if ids[g] == nil {
			groups = append(groups, g)
		}
		ids[g] = append(ids[g], r.delivery.event)
	}
	const update = `UPDATE webhook_deliveries
		SET state = 'sent', attempts = attempts + 1, tries = tries + 1, code = $1, ended_at = $2, node = NULL
		WHERE team_id = $3 AND endpoint_id = $4 AND attempts = $5 AND ended_at IS NULL AND event_id `
	for _, g := range groups {
		args := []any{g.code, store.Micros(tx.Now()), g.team, g.endpoint, g.attempts}
		if tx.Engine() == store.Postgres {
			b.Exec(nil, update+`= ANY ($6::uuid[])`, append(args, arrayOf(ids[g]))...)
			continue
		}
		_ = store.Chunks(ids[g], updateWidths, func(part []events.ID) error {
			args := args[:5:5]
			for _, id := range part {
				args = append(args, id)
			}
			b.Exec(nil, update+`IN `+store.Placeholders(6, len(part)), args...)
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

// recordOther writes a result other than a success.
func recordOther(ctx context.Context, tx *store.Tx, r *result) error {
	key := []any{r.queue.team, r.queue.id, r.delivery.event, r.delivery.attempts}
	const asClaimed = ` WHERE team_id = $1 AND endpoint_id = $2 AND event_id = $3 AND attempts = $4 AND ended_at IS NULL`
	var err error
	var n int64
	switch r.verdict {
	case sent: // see addSent
	case postponed:
		_, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET lane = 1, due_at = $5, node = NULL`+asClaimed, append(key, store.Micros(r.retryAt))...)
	case erased, unreadable:
		_, err = tx.Exec(ctx, `UPDATE webhook_deliveries SET state = 'failed', ended_at = $5, node = NULL`+asClaimed, append(key, store.Micros(tx.Now()))...)
	case retried:
		_, err = tx.Exec(ctx, `UPDATE webhook_deliveries
			SET lane = 1, due_at = $5, attempts = attempts + 1, tries = tries + 1, code = $6, node = NULL`+asClaimed,
			append(key, store.Micros(r.retryAt), codeOrNull(r.outcome.Code))...)
	case failed:
		n, err = tx.Exec(ctx, `UPDATE webhook_deliveries
			SET state = 'failed', ended_at = $5, attempts = attempts + 1, tries = tries + 1, code = $6, node = NULL`+asClaimed,
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

// announce emits the event of a last failure, unless the user was erased since the
// delivery was claimed.
func announce(ctx context.Context, tx *store.Tx, r *result) error {
	known, err := tx.HasKey(ctx, r.queue.team, r.delivery.user)
	if err == nil && known {
		_, err = events.Emit(ctx, tx, *r.exhausted)
	}
	return err
}

const (
	attemptInto = `INSERT INTO webhook_attempts (team_id, endpoint_id, event_id, n, target, at, took, code, problem, signature, answer) `
	attemptOnce = ` ON CONFLICT (event_id, endpoint_id, n, team_id) DO NOTHING`
)

// attemptRow holds a row of the log of attempts.
type attemptRow struct {
	team, endpoint, event uuid.UUID
	n, target, at, took   int64
	code                  *int64 // nil if no answer came
	problem, signature    string
	answer                []byte // sealed; nil if there is none
}

func (l *attemptRow) args() []any {
	var answer any
	if l.answer != nil {
		answer = l.answer
	}
	return []any{l.team, l.endpoint, l.event, l.n, l.target, l.at, l.took, l.code, l.problem, l.signature, answer}
}

func (r *result) row(ctx context.Context, tx *store.Tx) (attemptRow, error) {
	answer, err := sealAnswer(ctx, tx, r)
	l := attemptRow{
		team: r.queue.team, endpoint: uuid.UUID(r.queue.id), event: uuid.UUID(r.delivery.event),
		n: int64(r.delivery.attempts + 1), target: r.target, at: store.Micros(r.at), took: r.outcome.Took.Microseconds(),
		problem: string(r.outcome.Problem), signature: r.signature, answer: answer,
	}
	if r.outcome.Code != 0 {
		code := int64(r.outcome.Code)
		l.code = &code
	}
	return l, err
}

// addAttempts adds rows to the log. If the number of an attempt exists already, a node
// that had lost its lease made one of the two; the first one recorded counts.
func addAttempts(ctx context.Context, tx *store.Tx, b *store.Batch, group []result) error {
	rows := make([]attemptRow, 0, len(group))
	for i := range group {
		if !group[i].attempted() {
			continue
		}
		row, err := group[i].row(ctx, tx)
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
func addAttemptArrays(b *store.Batch, rows []attemptRow) {
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

// sealAnswer seals an answer with the key of the user, so that erasing the user erases
// data that a receiver repeats. If the user was erased since the delivery was claimed,
// no answer is kept.
func sealAnswer(ctx context.Context, tx *store.Tx, r *result) ([]byte, error) {
	if len(r.outcome.Answer) == 0 {
		return nil, nil
	}
	if known, err := tx.HasKey(ctx, r.queue.team, r.delivery.user); err != nil || !known {
		return nil, err
	}
	return tx.Seal(ctx, r.queue.team, r.delivery.user, answerPlace(r.queue.id, r.delivery.event, r.delivery.attempts+1), r.outcome.Answer)
}

// maxRecordings limits the attempts to record one result before it is set aside.
const maxRecordings = 4

// recordEach records each result of a group by itself and returns those that are left.
// So a result that the database refuses does not delay the others. Of such a result it
// records the new state alone. If the database refuses that as well, the result is set
// aside, and its delivery stays claimed.
func (d *Deliverer) recordEach(ctx context.Context, group []result) (left []result) {
	for i := range group {
		one := group[i : i+1 : i+1]
		err := d.write(ctx, one, recordAll)
		if err != nil {
			d.cfg.Log.ErrorContext(ctx, "a delivery cannot be recorded", "endpoint", one[0].queue.id, "event", one[0].delivery.event, "error", err)
			err = d.write(ctx, one, recordStates)
		}
		if err == nil {
			d.release(one)
			continue
		}
		r := one[0]
		if r.refused++; r.refused < maxRecordings {
			left = append(left, r)
			continue
		}
		r.refused = 0
		d.later(func() { d.setAside(r) })
	}
	return left
}

// setAside adds a result again after a while. If the process ends before, the next one
// posts the delivery again.
func (d *Deliverer) setAside(r result) {
	select {
	case <-time.After(d.cfg.RecordRetry):
		d.results.Add(r)
	case <-d.halt:
	}
}

// recordStates writes attempts and new states, without answers and announcements.
func recordStates(ctx context.Context, tx *store.Tx, group []result) error {
	reduced := slices.Clone(group)
	for i := range reduced {
		reduced[i].outcome.Answer, reduced[i].exhausted = nil, nil
	}
	return recordDeliveries(ctx, tx, reduced)
}
