package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A replay sends events again, with the same ids and the whole schedule of retries.
// Replays have a lane of their own, behind new events.

// CheckResend returns the fault that Resend would return.
func CheckResend(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, event events.ID) error {
	_, err := readResendable(ctx, tx, team, id, event)
	return err
}

// readResendable reads the event, which may still wait for its number.
func readResendable(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, event events.ID) (events.Message, error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return events.Message{}, err
	}
	if e.holding { // the message may be among those that are being held
		return events.Message{}, fault.New(fault.Unavailable, "the webhook was just switched on, and older messages are being held; try again in a moment")
	}
	m, err := events.Get(ctx, tx, team.UUID(), event)
	if err == nil && m.Unreadable != nil {
		return m, fault.New(fault.Unprocessable, "the stored event cannot be read")
	}
	if err == nil && m.Body == nil {
		return m, fault.New(fault.Unprocessable, "the user this event was about has been erased, and the event with the user")
	}
	return m, err
}

// Resend sends one message to one endpoint again, or for the first time. The
// endpoint's filter does not apply. A message that waits for a retry becomes due, with
// the whole schedule of retries.
func Resend(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, event events.ID) error {
	if err := events.Keep(ctx, tx, team.UUID()); err != nil {
		return err
	}
	m, err := readResendable(ctx, tx, team, id, event)
	if err != nil {
		return err
	}
	if m.Seq != 0 {
		if err := lowerFirst(ctx, tx, team, id, m.Seq); err != nil {
			return err
		}
	}
	if _, err := hasten(ctx, tx, team, id, tx.Now(), `0`, `WHERE `+waitingRows+` AND d.event_id = $5`, event); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO webhook_deliveries (team_id, endpoint_id, event_id, state, lane, due_at, attempts, tries)
		VALUES ($1, $2, $3, 'pending', 2, $4, 0, 0) `+makePending, team, id, event, store.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("webhooks: resending: %w", err)
	}
	tx.Notify(changedEndpoints, team.UUID())
	return nil
}

// lowerFirst notes that an endpoint gets an event with a smaller number than before.
func lowerFirst(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, seq int64) error {
	_, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET first_seq = $1 WHERE team_id = $2 AND id = $3 AND first_seq > $1`, seq, team, id)
	if err != nil {
		return fmt.Errorf("webhooks: lowering the first number: %w", err)
	}
	return nil
}

// makePending makes an ended delivery pending again. A pending one does not change. $4
// is the present moment.
const makePending = `ON CONFLICT (event_id, endpoint_id, team_id) DO UPDATE
	SET state = 'pending', lane = 2, due_at = $4, tries = 0, ended_at = NULL, node = NULL
	WHERE webhook_deliveries.ended_at IS NOT NULL`

// Replay selects what to send again to an endpoint: what failed or was held since a
// moment, or a range of numbers.
type Replay struct {
	Endpoint EndpointID `json:"endpoint"`
	// Since, when set, selects failed and held deliveries of events from then on.
	Since time.Time `json:"since,omitzero"`
	// Held, with Since, leaves out failed deliveries.
	Held bool `json:"held,omitzero"`
	// From and To, when Since is zero, select all events with these numbers that match
	// the endpoint's filter, whatever their state. The endpoint may be newer than the
	// events.
	From int64 `json:"from,omitzero"`
	To   int64 `json:"to,omitzero"` // 0 means the last
}

// Recover replays the failed and held deliveries of events from a moment on, and makes
// those due that wait for a retry.
func Recover(id EndpointID, since time.Time) Replay {
	if since.Before(time.Unix(1, 0)) {
		since = time.Unix(1, 0) // zero would mean a range of numbers
	}
	return Replay{Endpoint: id, Since: since}
}

func sendHeld(id EndpointID, since time.Time) Replay {
	r := Recover(id, since)
	r.Held = true
	return r
}

// UnmarshalText reads the id from a job's arguments.
func (id *EndpointID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseEndpointID(string(text))
	return err
}

func (r Replay) check() error {
	switch {
	case !r.Since.IsZero():
		return nil
	case r.From < 1:
		return fault.New(fault.Invalid, "must be 1 or greater").At("body", "from_seq")
	case r.To != 0 && r.To < r.From:
		return fault.New(fault.Invalid, "must not be less than from_seq").At("body", "to_seq")
	}
	return nil
}

// Count returns the number of messages that a replay would send.
func (r Replay) Count(ctx context.Context, tx *store.Tx, team teams.ID) (n int64, err error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	if _, err := Get(ctx, tx, team, r.Endpoint); err != nil {
		return 0, err
	}
	if r.Since.IsZero() {
		if r.To == 0 {
			r.To = 1<<63 - 1
		}
		err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM events v JOIN webhook_endpoints e ON e.team_id = v.team_id AND e.id = $2
			WHERE v.team_id = $1 AND v.seq BETWEEN $3 AND $4 AND `+matchesFilter, team, r.Endpoint, r.From, r.To).Scan(&n)
	} else {
		err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM webhook_deliveries d JOIN events v ON v.team_id = d.team_id AND v.id = d.event_id
			WHERE d.team_id = $1 AND d.endpoint_id = $2 AND `+r.states()+` AND v.created_at >= $3`,
			team, r.Endpoint, store.Micros(r.Since)).Scan(&n)
		if err == nil {
			var waiting int64
			err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM webhook_deliveries d `+joinEvents+`WHERE `+waitingRows+` AND v.created_at >= $4`,
				team, r.Endpoint, store.Micros(tx.Now()), store.Micros(r.Since)).Scan(&waiting)
			n += waiting
		}
	}
	if err != nil {
		return 0, fmt.Errorf("webhooks: counting a replay: %w", err)
	}
	return n, nil
}

// states selects the deliveries of a replay since a moment.
func (r Replay) states() string {
	if r.Held {
		return `d.state = 'held'`
	}
	return `d.state IN ('failed', 'held')`
}

// joinEvents adds the event (v) of a delivery (d).
const joinEvents = `JOIN events v ON v.team_id = d.team_id AND v.id = d.event_id `

// matchesFilter selects the events (v) that match the filter of an endpoint (e). See
// audience in package events.
const matchesFilter = `v.audience < 2 AND (NOT e.filtered AND v.audience = 0 OR EXISTS (SELECT 1 FROM webhook_filters f WHERE f.team_id = e.team_id AND f.endpoint_id = e.id AND f.type = v.type))`

// Start begins a replay in the background and returns its job. Replays of one endpoint
// may run at the same time. If one of them made a delivery pending, the others leave
// the delivery alone until it has ended.
func (r Replay) Start(ctx context.Context, tx *store.Tx, team teams.ID) (jobs.ID, error) {
	if err := r.check(); err != nil {
		return jobs.ID{}, err
	}
	if _, err := Get(ctx, tx, team, r.Endpoint); err != nil {
		return jobs.ID{}, err
	}
	if r.Since.IsZero() {
		if err := lowerFirst(ctx, tx, team, r.Endpoint, r.From); err != nil {
			return jobs.ID{}, err
		}
		last, err := events.LastNumber(ctx, tx, team.UUID())
		if err != nil {
			return jobs.ID{}, err
		}
		// Later events are not part of the replay, however late the job runs and however
		// often it is interrupted.
		if r.To == 0 || r.To > last {
			r.To = last
		}
		if last == 0 {
			r.To = -1 // 0 would mean all
		}
	}
	return ReplayJob.Enqueue(ctx, tx, r, jobs.Options{Team: team.UUID()})
}

// ReplayJob makes the deliveries of a replay pending.
var ReplayJob = jobs.Define("webhooks.replay", func(ctx context.Context, run *jobs.Run, r Replay) error {
	holding, err := r.holding(ctx, run)
	if err != nil {
		return err
	}
	if holding {
		return jobs.RetryLater(time.Second)
	}
	if r.Since.IsZero() {
		return r.replayRange(ctx, run)
	}
	if err := r.hastenWaiting(ctx, run); err != nil {
		return err
	}
	return r.replayFailed(ctx, run)
}).Cancelable()

// hastenWaiting makes the retries due that wait, of events since a moment. They get the
// whole schedule again.
func (r Replay) hastenWaiting(ctx context.Context, run *jobs.Run) error {
	at := run.DB().Now()
	for n := int64(1); n > 0; {
		err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
			n, err = hasten(ctx, tx, teams.ID(run.Team), r.Endpoint, at, `0`, joinEvents+`WHERE `+waitingRows+` AND v.created_at >= $5`, store.Micros(r.Since))
			tx.Notify(changedEndpoints, run.Team)
			return err
		})
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// holding reports that older deliveries of the endpoint are still being held. Until
// that is done, the deliveries of a replay are not known.
func (r Replay) holding(ctx context.Context, run *jobs.Run) (yes bool, err error) {
	err = run.DB().Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM webhook_endpoints
			WHERE team_id = $1 AND id = $2 AND hold_before IS NOT NULL AND deleted_at IS NULL)`, run.Team, r.Endpoint).Scan(&yes)
	})
	if err != nil {
		return false, fmt.Errorf("webhooks: reading a rule to hold: %w", err)
	}
	return yes, nil
}

// replayAtOnce limits the rows of one transaction of a replay.
const replayAtOnce = 500

// replayRange goes through the numbers. The number that it reached commits with the
// rows, so that an interrupted job continues there.
func (r Replay) replayRange(ctx context.Context, run *jobs.Run) error {
	last, err := lastSeq(ctx, run.DB(), run.Team)
	if err != nil {
		return err
	}
	if r.To != 0 {
		last = min(last, r.To)
	}
	for next := max(r.From, run.Saved().Done+1); next <= last; next += replayAtOnce {
		until := min(next+replayAtOnce-1, last)
		err := run.DB().Write(ctx, func(tx *store.Tx) error {
			if err := r.addRange(ctx, tx, run.Team, next, until); err != nil {
				return err
			}
			return run.Save(ctx, tx, jobs.Progress{Done: until, Total: last, Note: "sequence number"})
		})
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (r Replay) addRange(ctx context.Context, tx *store.Tx, team uuid.UUID, from, to int64) error {
	if err := events.Keep(ctx, tx, team); err != nil {
		return err
	}
	_, err := hasten(ctx, tx, teams.ID(team), r.Endpoint, tx.Now(), `0`, joinEvents+`WHERE `+waitingRows+` AND v.seq BETWEEN $5 AND $6`, from, to)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO webhook_deliveries (team_id, endpoint_id, event_id, state, lane, due_at, attempts, tries)
		SELECT v.team_id, e.id, v.id, 'pending', 2, $4, 0, 0
		FROM events v JOIN webhook_endpoints e ON e.team_id = v.team_id AND e.id = $2
		WHERE v.team_id = $1 AND v.seq BETWEEN $3 AND $5 AND e.deleted_at IS NULL AND `+matchesFilter+` `+makePending,
		team, r.Endpoint, from, store.Micros(tx.Now()), to)
	if err != nil {
		return fmt.Errorf("webhooks: replaying: %w", err)
	}
	tx.Notify(changedEndpoints, team)
	return nil
}

// replayFailed replays deliveries that ended before the job began, so that one that
// fails again meanwhile is not taken twice.
func (r Replay) replayFailed(ctx context.Context, run *jobs.Run) error {
	began, done := run.DB().Now(), run.Saved().Done
	for {
		var n int64
		err := run.DB().Write(ctx, func(tx *store.Tx) (err error) {
			n, err = r.addFailed(ctx, tx, run.Team, began)
			if err != nil {
				return err
			}
			return run.Save(ctx, tx, jobs.Progress{Done: done + n, Note: "messages"})
		})
		if err != nil || n == 0 {
			return err
		}
		done += n
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func (r Replay) addFailed(ctx context.Context, tx *store.Tx, team uuid.UUID, began time.Time) (int64, error) {
	if err := events.PreferIndexes(ctx, tx); err != nil {
		return 0, err
	}
	n, err := tx.Exec(ctx, `UPDATE webhook_deliveries SET state = 'pending', lane = 2, due_at = $4, tries = 0, ended_at = NULL, node = NULL
		WHERE endpoint_id = $2 AND ended_at <= $3 AND event_id IN (
			SELECT d.event_id FROM webhook_deliveries d JOIN events v ON v.team_id = d.team_id AND v.id = d.event_id
			WHERE d.team_id = $1 AND d.endpoint_id = $2 AND `+r.states()+` AND d.ended_at <= $3 AND v.created_at >= $5
			ORDER BY d.event_id LIMIT $6)`,
		team, r.Endpoint, store.Micros(began), store.Micros(tx.Now()), store.Micros(r.Since), replayAtOnce)
	if err != nil {
		return 0, fmt.Errorf("webhooks: recovering: %w", err)
	}
	tx.Notify(changedEndpoints, team)
	return n, nil
}

func lastSeq(ctx context.Context, db *store.DB, team uuid.UUID) (n int64, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		n, err = events.LastNumber(ctx, tx, team)
		return err
	})
	return n, err
}
