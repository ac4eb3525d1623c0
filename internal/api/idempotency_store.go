package api

import (
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

// The first transaction of a request inserts its row of idempotency_keys:
//
//	no row            nothing has happened
//	status 0          started; it runs on a living node, or is resumed after a node's death
//	any other status  the answer

var (
	errRunning = &runningError{fault.New(fault.Conflict, "A request with this Idempotency-Key is still running").WithType("idempotency_key_running")}
	// errLost is the answer if the first request ran but its answer cannot be returned.
	// The answer's subject was erased, the row is damaged, or the process died between
	// two transactions without storing its progress.
	errLost = fault.New(fault.Conflict, lostText).WithType("idempotency_answer_lost").WithDetail(map[string]any{"error_type": "IDEMPOTENT_ANSWER_LOST", "error_message": lostText})
)

const lostText = "The first request with this Idempotency-Key was carried out, but its answer was lost; read the resource"

// runningError refuses a request whose key has a request that still runs.
type runningError struct{ fault *fault.Error }

func (e *runningError) Error() string { return e.fault.Error() }

// RetryAfter returns the seconds after which a repeat makes sense.
func (*runningError) RetryAfter() int { return 1 }

func (e *runningError) Unwrap() error { return e.fault }

// claimRow claims the key at the start of each transaction of the request. A second
// transaction finds its own claim. On PostgreSQL it waits for another node's
// transaction that claims the same key.
func (at *Attempt) claimRow(ctx context.Context, tx *store.Tx) error {
	at.overtaken = false // the transaction may be retried
	if at.claimed {
		return nil
	}
	n, err := at.insert(ctx, tx, 0, uuid.Nil, []byte("{}"), []byte{})
	if err == nil && n == 0 {
		at.overtaken = true
		return errRunning
	}
	return err
}

func (at *Attempt) insert(ctx context.Context, tx *store.Tx, status int, subject uuid.UUID, headers, body []byte) (int64, error) {
	tx.AfterCommit(func() { at.claimed = true })
	return tx.Exec(ctx, `INSERT INTO idempotency_keys (team_id, key_hash, request, status, headers, body, locked_until, created_at, node_id, subject_id)
		VALUES ($1, $2, $3, $4, $5, $6, `+tx.Clock()+` + $7, $8, $9, $10) ON CONFLICT (team_id, key_hash) DO NOTHING`,
		at.claim.team, at.claim.key[:], at.request, status, string(headers), body, maxRunTime.Microseconds(), tx.Now(), at.node, nullableSubject(subject))
}

// storeAnswer stores the answer in the row.
func (at *Attempt) storeAnswer(ctx context.Context, tx *store.Tx, rec *answerBuffer) error {
	headers, sealed, err := at.seal(ctx, tx, rec)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE idempotency_keys SET status = $1, headers = $2, body = $3, subject_id = $4, node_id = NULL WHERE team_id = $5 AND key_hash = $6`,
		rec.status, string(headers), sealed, nullableSubject(at.sealingSubject(rec)), at.claim.team, at.claim.key[:])
	return err
}

func (at *Attempt) seal(ctx context.Context, tx *store.Tx, rec *answerBuffer) (headers, body []byte, err error) {
	if headers, err = json.Marshal(rec.header); err != nil {
		return nil, nil, err
	}
	body, err = tx.Seal(ctx, at.claim.team, at.sealingSubject(rec), at.place(), rec.body.Bytes())
	return headers, body, err
}

func (at *Attempt) place() string { return "idempotency_keys.body:" + string(at.claim.key[:]) }

func (at *Attempt) storeProgress(ctx context.Context, tx *store.Tx, what string) error {
	tx.AfterCommit(func() { at.hasProgress = true })
	_, err := tx.Exec(ctx, `UPDATE idempotency_keys SET resumes = $1, subject_id = $2 WHERE team_id = $3 AND key_hash = $4`, what, nullableSubject(at.subject), at.claim.team, at.claim.key[:])
	return err
}

// RecordRenewal records progress like RecordProgress, for a request whose result changes
// later. No answer is stored. Each repeat reads the progress and answers with the current
// state.
func RecordRenewal(ctx context.Context, tx *store.Tx, user users.ID, what string) error {
	at, ok := ctx.Value(attemptKey{}).(*Attempt)
	if !ok {
		return nil
	}
	tx.AfterCommit(func() { at.renewal = what })
	return RecordProgress(ctx, tx, user, what)
}

// storeSeparately stores an answer that was not committed with a change: a refusal, or
// the end of a request with several transactions.
func (a *API) storeSeparately(ctx context.Context, at *Attempt, rec *answerBuffer) error {
	ctx = store.WithoutExtraWrites(context.WithoutCancel(ctx)) // a caller that disconnected may repeat the request
	return a.DB.Write(ctx, func(tx *store.Tx) error {
		if at.claimed {
			return at.storeAnswer(ctx, tx, rec)
		}
		headers, sealed, err := at.seal(ctx, tx, rec)
		if err != nil {
			return err
		}
		_, err = at.insert(ctx, tx, rec.status, at.sealingSubject(rec), headers, sealed) // an earlier answer has priority
		return err
	})
}

// storedRow is the row of a key.
type storedRow struct {
	request, sealed  []byte
	status           int
	headers, resumes string
	locked           time.Time
	subject          uuid.NullUUID
}

// findAnswer returns the answer of an earlier request, nil for none. An unfinished request
// without an answer is taken over by this attempt.
func (a *API) findAnswer(ctx context.Context, at *Attempt) (rec *answerBuffer, err error) {
	var row storedRow
	err = a.DB.Read(ctx, func(tx *store.Tx) error {
		rec = nil
		err := tx.QueryRow(ctx, `SELECT request, status, headers, body, locked_until, resumes, subject_id FROM idempotency_keys WHERE team_id = $1 AND key_hash = $2`,
			at.claim.team, at.claim.key[:]).Scan(&row.request, &row.status, &row.headers, &row.sealed, store.ScanTime(&row.locked), &row.resumes, &row.subject)
		if err != nil || row.status == 0 || !at.isRequest(row.request) {
			return err
		}
		body, err := tx.Unseal(ctx, at.claim.team, row.subject.UUID, at.place(), row.sealed)
		if errors.Is(err, store.ErrNoKey) || errors.Is(err, secrets.ErrSealed) { // the subject was erased, or the row is damaged
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
	case !at.isRequest(row.request):
		return nil, fault.New(fault.Conflict, "This Idempotency-Key was used with another request").WithType("idempotency_key_reused")
	case rec == nil:
		return nil, a.takeOver(ctx, at, &row)
	}
	return rec, nil
}

// takeOver continues an unfinished request of another process. It does not run on this
// node, because only one attempt has the claim here. Whether it may still run on
// another node is decided by the clock of the database, which all nodes share.
func (a *API) takeOver(ctx context.Context, at *Attempt, row *storedRow) error {
	return a.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE idempotency_keys SET node_id = $1, locked_until = `+tx.Clock()+` + $2 WHERE team_id = $3 AND key_hash = $4 AND status = 0 AND locked_until = $5
			AND (node_id = $1 OR locked_until <= `+tx.Clock()+` OR `+jobs.FreeCondition("node_id")+`)`,
			at.node, maxRunTime.Microseconds(), at.claim.team, at.claim.key[:], row.locked)
		switch {
		case err != nil:
			return err
		case n == 0:
			return errRunning
		case row.resumes == "" && !at.repeatable:
			return errLost
		}
		tx.AfterCommit(func() {
			at.claimed, at.hasProgress, at.progress = true, row.resumes != "", row.resumes
			if row.subject.Valid {
				at.subject = row.subject.UUID
			}
		})
		return nil
	})
}

// ForgetIdempotency deletes answers older than IdempotencyRetention.
func ForgetIdempotency(ctx context.Context, tx *store.Tx) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM idempotency_keys WHERE created_at < $1`, tx.Now().Add(-IdempotencyRetention))
}
