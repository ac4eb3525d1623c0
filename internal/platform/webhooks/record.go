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
		r.queue.release(r.delivery.key(), r.retryAt)
		if r.attempted() {
			d.cfg.Observe(Attempted{Outcome: r.fate.String(), Took: r.outcome.Took, Delay: r.ended.Sub(r.delivery.created)})
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
		k := alike{r.queue.team, r.queue.id, r.delivery.attempts, r.outcome.Code}
		if byKind[k] == nil {
			order = append(order, k)
		}
		byKind[k] = append(byKind[k], r.delivery.event)
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
		_ = store.Chunks(byKind[k], widths, func(part []events.ID) error {
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

// recordOther writes everything but a success.
func recordOther(ctx context.Context, tx *store.Tx, r *result) error {
	p := r.delivery
	key := []any{r.queue.team, r.queue.id, p.event, p.attempts}
	const mine = ` WHERE team_id = $1 AND endpoint_id = $2 AND event_id = $3 AND attempts = $4 AND ended_at IS NULL`
	var err error
	var n int64
	switch r.fate {
	case sent: // recorded with its like
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
	if known, err := tx.HasKey(ctx, r.queue.team, r.delivery.user); err != nil || !known {
		return nil, err
	}
	return tx.Seal(ctx, r.queue.team, r.delivery.user, answerPlace(r.queue.id, r.delivery.event, r.delivery.attempts+1), r.outcome.Answer)
}

// mostRecordings is how often a result is tried to be recorded in a row.
const mostRecordings = 4

// oneByOne records each result of a group by itself and returns those that are
// left. What the database refuses of one must not keep the others waiting: of
// that is recorded only what became of the delivery, and if that is refused as
// well, the result is set aside with its row in hand.
func (d *Deliverer) oneByOne(ctx context.Context, group []result) (left []result) {
	for i := range group {
		one := group[i : i+1 : i+1]
		err := d.write(ctx, one, recordAll)
		if err != nil {
			d.cfg.Log.ErrorContext(ctx, "recording a delivery", "endpoint", one[0].queue.id, "event", one[0].delivery.event, "error", err)
			err = d.write(ctx, one, recordBare)
		}
		if err == nil {
			d.letGo(one)
			continue
		}
		r := one[0]
		if r.refused++; r.refused < mostRecordings {
			left = append(left, r)
			continue
		}
		r.refused = 0
		d.later(func() { d.setAside(r) })
	}
	return left
}

// setAside hands a result in again after a while. If the process ends before,
// the delivery is posted again by the next.
func (d *Deliverer) setAside(r result) {
	select {
	case <-time.After(d.cfg.RecordRetry):
		d.results.Add(r)
	case <-d.halt:
	}
}

// recordBare writes what became of deliveries, and neither what was answered nor
// what follows from it.
func recordBare(ctx context.Context, tx *store.Tx, group []result) error {
	bare := slices.Clone(group)
	for i := range bare {
		bare[i].outcome.Answer, bare[i].exhausted = nil, nil
	}
	return recordDeliveries(ctx, tx, bare)
}

// recordHealth brings the endpoints' health forward and switches off those
// that have been failing for days or answered 410.
func recordHealth(ctx context.Context, tx *store.Tx, group []result) error {
	byQueue := map[*endpointQueue][]*result{}
	for i := range group {
		if r := &group[i]; r.attempted() {
			byQueue[r.queue] = append(byQueue[r.queue], r)
		}
	}
	for q, results := range byQueue {
		if !q.noteworthy(results, tx.Now()) {
			continue
		}
		slices.SortFunc(results, func(a, b *result) int { return a.ended.Compare(b.ended) })
		if err := noteHealth(ctx, tx, q, results); err != nil {
			return err
		}
	}
	return nil
}

// noteworthy reports whether results tell more of an endpoint than that it is
// still well.
func (q *endpointQueue) noteworthy(results []*result, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.health.FirstFailureAt.IsZero() || now.Sub(q.healthAt) >= healthEvery {
		return true
	}
	return slices.ContainsFunc(results, func(r *result) bool { return r.fate != sent })
}

func noteHealth(ctx context.Context, tx *store.Tx, q *endpointQueue, results []*result) error {
	e, _, err := scanEndpoint(tx.QueryRow(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoints e WHERE e.team_id = $1 AND e.id = $2`, q.team, q.id))
	if err != nil {
		return fmt.Errorf("webhooks: reading health: %w", err)
	}
	before, reason := e.Health, ""
	for _, r := range results {
		if r.fate == sent {
			e.Health = e.Health.Succeeded(r.ended)
			continue
		}
		e.Health = e.Health.Failed(r.ended)
		switch {
		case r.outcome.gone():
			reason = "it answered 410 Gone"
		case e.Health.Dead(r.ended):
			reason = "everything sent to it failed for 5 days"
		}
	}
	if e.Health != before {
		_, err = tx.Exec(ctx, `UPDATE webhook_endpoints SET first_failure_at = $1, failing_since = $2, last_success_at = $3
			WHERE team_id = $4 AND id = $5`, store.MicrosOrNil(&e.Health.FirstFailureAt), store.MicrosOrNil(&e.Health.FailingSince),
			store.MicrosOrNil(&e.Health.LastSuccessAt), q.team, q.id)
		if err != nil {
			return fmt.Errorf("webhooks: writing health: %w", err)
		}
	}
	if reason != "" && e.State == On {
		if err := switchOff(ctx, tx, e, reason); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { q.setHealth(e.Health, tx.Now()) })
	return nil
}

func (q *endpointQueue) setHealth(h Health, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.health, q.healthAt = h, now
}

// switchOff turns an endpoint off and says so to the team's others.
func switchOff(ctx context.Context, tx *store.Tx, e Endpoint, reason string) error {
	n, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET state = $1, reason = $2, hold_before = NULL, hold_through = NULL
		WHERE team_id = $3 AND id = $4 AND state = 'on' AND deleted_at IS NULL`, AutoOff, reason, e.Team, e.ID)
	if err != nil {
		return fmt.Errorf("webhooks: switching an endpoint off: %w", err)
	}
	if n == 0 {
		return nil
	}
	if err := touch(ctx, tx, e.Team, e.ID); err != nil {
		return err
	}
	data := fmt.Sprintf(`{"endpoint_id":%q,"reason":%q}`, e.ID.String(), reason)
	_, err = events.Emit(ctx, tx, events.New{Team: e.Team.UUID(), Type: EndpointDisabled, Data: []byte(data)})
	return err
}
