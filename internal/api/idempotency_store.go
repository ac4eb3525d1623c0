package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// A row of idempotency_keys comes with the first transaction of its request:
//
//	no row            nothing has happened
//	status 0          begun: by a live node it runs, by a dead one it is gone on with
//	any other status  the answer

var (
	errRuns = fault.New(fault.Conflict, "A request with this Idempotency-Key is still running")
	// errLost is the honest word for a row whose answer is not to be had: whom it
	// was about was forgotten since, it is damaged, or a process died between two transactions
	// and had not said what it began.
	errLost = fault.New(fault.Conflict, lostText).WithDetail(map[string]any{"error_type": "IDEMPOTENT_ANSWER_LOST", "error_message": lostText})
)

const lostText = "The first request with this Idempotency-Key was carried out, but its answer was lost; read the resource"

// take claims the key, first of all in each transaction of the request. A
// second transaction meets its own claim. On PostgreSQL it waits for another
// node's transaction that claims the same key.
func (at *Attempt) take(ctx context.Context, tx *store.Tx) error {
	at.beaten = false // the transaction may run again
	if at.claimed {
		return nil
	}
	n, err := at.insert(ctx, tx, 0, uuid.Nil, []byte("{}"), []byte{})
	if err == nil && n == 0 {
		at.beaten = true
		return errRuns
	}
	return err
}

func (at *Attempt) insert(ctx context.Context, tx *store.Tx, status int, subject uuid.UUID, headers, body []byte) (int64, error) {
	tx.AfterCommit(func() { at.claimed = true })
	return tx.Exec(ctx, `INSERT INTO idempotency_keys (team_id, key_hash, request, status, headers, body, locked_until, created_at, node_id, subject_id)
		VALUES ($1, $2, $3, $4, $5, $6, `+tx.Clock()+` + $7, $8, $9, $10) ON CONFLICT (team_id, key_hash) DO NOTHING`,
		at.claim.team, at.claim.key[:], at.request, status, string(headers), body, longestRun.Microseconds(), tx.Now(), at.node, stored(subject))
}

// record puts the answer into the row.
func (at *Attempt) record(ctx context.Context, tx *store.Tx, rec *answerBuffer) error {
	headers, sealed, err := at.sealed(ctx, tx, rec)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE idempotency_keys SET status = $1, headers = $2, body = $3, subject_id = $4, node_id = NULL WHERE team_id = $5 AND key_hash = $6`,
		rec.status, string(headers), sealed, stored(at.keyOf(rec)), at.claim.team, at.claim.key[:])
	return err
}

func (at *Attempt) sealed(ctx context.Context, tx *store.Tx, rec *answerBuffer) (headers, body []byte, err error) {
	if headers, err = json.Marshal(rec.header); err != nil {
		return nil, nil, err
	}
	body, err = tx.Seal(ctx, at.claim.team, at.keyOf(rec), at.place(), rec.body.Bytes())
	return headers, body, err
}

func (at *Attempt) place() string { return "idempotency_keys.body:" + string(at.claim.key[:]) }

func (at *Attempt) begins(ctx context.Context, tx *store.Tx, what string) error {
	tx.AfterCommit(func() { at.began = true })
	_, err := tx.Exec(ctx, `UPDATE idempotency_keys SET resumes = $1, subject_id = $2 WHERE team_id = $3 AND key_hash = $4`, what, stored(at.subject), at.claim.team, at.claim.key[:])
	return err
}

// RecordRenewal is begins for what changes afterwards: no answer is kept, and each
// repeat is told of it to answer with what is true then.
func RecordRenewal(ctx context.Context, tx *store.Tx, user users.ID, what string) error {
	at, ok := ctx.Value(attemptKey{}).(*Attempt)
	if !ok {
		return nil
	}
	tx.AfterCommit(func() { at.renewed = what })
	return RecordProgress(ctx, tx, user, what)
}

// keep stores an answer that did not commit with a change: a refusal, or the
// end of a request of several transactions.
func (a *API) keep(ctx context.Context, at *Attempt, rec *answerBuffer) error {
	ctx = context.WithoutCancel(ctx) // a caller that hung up may come again
	return a.DB.Write(ctx, func(tx *store.Tx) error {
		if at.claimed {
			return at.record(ctx, tx, rec)
		}
		headers, sealed, err := at.sealed(ctx, tx, rec)
		if err != nil {
			return err
		}
		_, err = at.insert(ctx, tx, rec.status, at.keyOf(rec), headers, sealed) // whoever came first has answered
		return err
	})
}

// keptRow is what is stored under a key.
type keptRow struct {
	request, sealed  []byte
	status           int
	headers, resumes string
	locked           time.Time
	subject          uuid.NullUUID
}

// kept finds the answer of an earlier request, nil for none. A request that was
// begun and has no answer becomes ours.
func (a *API) kept(ctx context.Context, at *Attempt) (rec *answerBuffer, err error) {
	var row keptRow
	err = a.DB.Read(ctx, func(tx *store.Tx) error {
		rec = nil
		err := tx.QueryRow(ctx, `SELECT request, status, headers, body, locked_until, resumes, subject_id FROM idempotency_keys WHERE team_id = $1 AND key_hash = $2`,
			at.claim.team, at.claim.key[:]).Scan(&row.request, &row.status, &row.headers, &row.sealed, store.ScanTime(&row.locked), &row.resumes, &row.subject)
		if err != nil || row.status == 0 || !bytes.Equal(row.request, at.request) {
			return err
		}
		body, err := tx.Unseal(ctx, at.claim.team, row.subject.UUID, at.place(), row.sealed)
		if errors.Is(err, store.ErrNoKey) || errors.Is(err, secrets.ErrSealed) { // whom it was about was forgotten, or it is damaged
			return errLost
		}
		if err != nil {
			return err
		}
		rec = &answerBuffer{header: http.Header{}, status: row.status}
		rec.body.Write(body)
		return json.Unmarshal([]byte(row.headers), &rec.header)
	})
	switch {
	case errors.Is(err, store.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case !bytes.Equal(row.request, at.request):
		return nil, fault.New(fault.Conflict, "This Idempotency-Key was used with another request")
	case rec == nil:
		return nil, a.takeOver(ctx, at, &row)
	}
	return rec, nil
}

// takeOver makes a request ours that somebody else began. That nobody carries
// it out on this node is known: only one holds its claim. How long another node may
// be at it goes by the clock of the database, which they share.
func (a *API) takeOver(ctx context.Context, at *Attempt, row *keptRow) error {
	return a.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE idempotency_keys SET node_id = $1, locked_until = `+tx.Clock()+` + $2 WHERE team_id = $3 AND key_hash = $4 AND status = 0 AND locked_until = $5
			AND (node_id = $1 OR locked_until <= `+tx.Clock()+` OR `+jobs.Free("node_id")+`)`,
			at.node, longestRun.Microseconds(), at.claim.team, at.claim.key[:], row.locked)
		switch {
		case err != nil:
			return err
		case n == 0:
			return errRuns
		case row.resumes == "" && !at.repeatable:
			return errLost
		}
		tx.AfterCommit(func() {
			at.claimed, at.began, at.resumes = true, row.resumes != "", row.resumes
			if row.subject.Valid {
				at.subject = row.subject.UUID
			}
		})
		return nil
	})
}

// ForgetIdempotency removes answers older than IdempotencyKept.
func ForgetIdempotency(ctx context.Context, tx *store.Tx) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM idempotency_keys WHERE created_at < $1`, tx.Now().Add(-IdempotencyKept))
}
