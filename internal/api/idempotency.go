package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/google/uuid"

	"hale/internal/fault"
	"hale/internal/secrets"
	"hale/internal/store"
)

// A creation sent again with the same Idempotency-Key gets the first answer
// again, for at least 24 hours, success and failure alike. The same key with
// another request is a 409, and so is one whose first request still runs.
// Nothing is kept of requests that failed validation or never got here.
//
// The claim on the key commits in the same transaction as the change itself
// (store.Alongside), so that a crash between the change and its answer cannot
// make the change happen twice: the repeat is told that the first request was
// carried out and that its answer is gone. A push is carried out again instead:
// values that are stored already change nothing.
const (
	idempotencyHeader  = "Idempotency-Key"
	idempotencyTwin    = "X-Idempotency-Key"
	idempotencyErrors  = "X-Idempotency-Error"
	dryRunParameter    = "dry_run"
	longestIdempotency = 255
	// IdempotencyKept is how long answers are kept: what bookings at service
	// centers are promised (reference 1.10).
	IdempotencyKept = 14 * 24 * time.Hour
	// longestRun is how long a claim without an answer may belong to a request
	// that still runs on another node.
	longestRun = time.Minute
	// replayedHeader marks an answer that was given before.
	replayedHeader = "Idempotent-Replayed"
)

func idempotencyParameter() *huma.Param {
	limit := longestIdempotency
	return &huma.Param{
		Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &limit},
		Description: "Makes the request safe to repeat: the same key and body get the first answer again. X-Idempotency-Key is read too.",
	}
}

// metaRepeatable marks operations that change nothing when they are carried out
// again.
const metaRepeatable = "hale.repeatable"

// claims are the keys whose first request runs on this node.
type claims struct {
	mu   sync.Mutex
	held map[claim]bool
}

type claim struct {
	team uuid.UUID
	key  [32]byte
}

var running = claims{held: map[claim]bool{}}

func (c *claims) take(k claim) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[k] {
		return false
	}
	c.held[k] = true
	return true
}

func (c *claims) release(k claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, k)
}

func (a *API) idempotent(ctx huma.Context, next func(huma.Context)) {
	key := ctx.Header(idempotencyHeader)
	if key == "" {
		key = ctx.Header(idempotencyTwin)
	}
	if key == "" || ctx.Query(dryRunParameter) == "true" { // a dry run does nothing that could be done twice
		next(ctx)
		return
	}
	r, w := humachi.Unwrap(ctx)
	if len(key) > longestIdempotency {
		e := fault.Newf(fault.Invalid, "String should have at most %d characters", longestIdempotency).WithType("string_too_long").At("header", idempotencyHeader)
		writeError(w, a.refusal(r.Context(), e))
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, ctx.Operation().MaxBodyBytes+1))
	if err != nil {
		writeDetail(w, http.StatusBadRequest, "The request body could not be read")
		return
	}
	k := claimOf(CallerOf(r.Context()), key)
	if !running.take(k) {
		writeDetail(w, http.StatusConflict, "A request with this Idempotency-Key is still running")
		return
	}
	defer running.release(k)
	repeatable, _ := ctx.Operation().Metadata[metaRepeatable].(bool)
	a.once(ctx, r, w, next, &attempt{claim: k, request: fingerprint(r, body), repeatable: repeatable}, body)
}

// claimOf keeps the keys of a phone to its user: two phones must not meet in
// one key.
func claimOf(c Caller, key string) claim {
	if !c.User.IsZero() {
		key = c.User.String() + "\x00" + key
	}
	return claim{c.Team.UUID(), [32]byte(secrets.Hash(key))}
}

// fingerprint tells whether a repeat is the same request.
func fingerprint(r *http.Request, body []byte) []byte {
	h := sha256.New()
	for _, part := range []string{r.Method, r.URL.Path, r.URL.RawQuery} {
		_, _ = io.WriteString(h, part)
		h.Write([]byte{0})
	}
	h.Write(body)
	return h.Sum(nil)
}

// attempt is one request under a key.
type attempt struct {
	claim   claim
	request []byte
	claimed bool // the claim is committed, with the change
	// repeatable requests change nothing when they are carried out again, as
	// pushes: one whose answer was lost is.
	repeatable bool
}

var errAnswered = fault.New(fault.Conflict, "A request with this Idempotency-Key is still running")

func (a *API) once(ctx huma.Context, r *http.Request, w http.ResponseWriter, next func(huma.Context), at *attempt, body []byte) {
	before, err := a.kept(r.Context(), at)
	if err != nil {
		writeError(w, a.refusal(r.Context(), err))
		return
	}
	if before != nil {
		a.Metrics.Replay()
		before.replay(w)
		return
	}
	rec := &answerBuffer{header: http.Header{}, status: http.StatusOK}
	again := r.WithContext(store.Alongside(r.Context(), func(tx *store.Tx) error {
		return at.insert(r.Context(), tx, tx.Now().Add(longestRun), 0, []byte("{}"), []byte{})
	}))
	again.Body = io.NopCloser(bytes.NewReader(body))
	next(humachi.NewContext(ctx.Operation(), again, rec))
	if worthKeeping(r, rec.status) {
		if err := a.keep(r.Context(), at, rec); err != nil {
			a.Log.ErrorContext(r.Context(), "answer of an idempotent request not kept", "request_id", requestID(r.Context()), "error", err)
		}
	}
	rec.writeTo(w)
}

// worthKeeping reports whether a repeat gets this answer again. A caller may
// ask for successes only.
//
// Reference 1.10, X-Idempotency-Error.
func worthKeeping(r *http.Request, status int) bool {
	if r.Header.Get(idempotencyErrors) == "no-cache" && status >= http.StatusBadRequest {
		return false
	}
	return status != http.StatusUnprocessableEntity && status < http.StatusInternalServerError
}

// insert claims the key inside the transaction of the change.
func (at *attempt) insert(ctx context.Context, tx *store.Tx, lockedUntil time.Time, status int, headers, body []byte) error {
	n, err := tx.Exec(ctx, `INSERT INTO idempotency_keys (team_id, key_hash, request, status, headers, body, locked_until, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (team_id, key_hash) DO NOTHING`,
		at.claim.team, at.claim.key[:], at.request, status, string(headers), body, lockedUntil, tx.Now())
	if err != nil {
		return err
	}
	if n == 0 && !at.claimed { // another node's request came first
		return errAnswered
	}
	tx.AfterCommit(func() { at.claimed = true }) // a second transaction of the same request meets its own claim
	return nil
}

// kept finds the answer of an earlier request, nil for none.
func (a *API) kept(ctx context.Context, at *attempt) (*answerBuffer, error) {
	var rec *answerBuffer
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		var request, sealed []byte
		var status int
		var headers string
		var locked time.Time
		err := tx.QueryRow(ctx, `SELECT request, status, headers, body, locked_until FROM idempotency_keys WHERE team_id = $1 AND key_hash = $2`,
			at.claim.team, at.claim.key[:]).Scan(&request, &status, &headers, &sealed, store.ScanTime(&locked))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return err
		case !bytes.Equal(request, at.request):
			return fault.New(fault.Conflict, "This Idempotency-Key was used with another request")
		case status == 0 && tx.Now().Before(locked):
			return errAnswered
		case status == 0 && at.repeatable:
			at.claimed = true
			return nil
		case status == 0:
			return fault.New(fault.Conflict, "The first request with this Idempotency-Key was carried out, but its answer was lost; read the resource").
				WithDetail(map[string]any{"error_type": "IDEMPOTENT_ANSWER_LOST", "error_message": "The first request with this Idempotency-Key was carried out, but its answer was lost; read the resource"})
		}
		body, err := tx.Unseal(ctx, at.claim.team, uuid.Nil, at.place(), sealed)
		if err != nil {
			return err
		}
		rec = &answerBuffer{header: http.Header{}, status: status}
		rec.body.Write(body)
		return json.Unmarshal([]byte(headers), &rec.header)
	})
	return rec, err
}

// keep stores the answer under the claim.
func (a *API) keep(ctx context.Context, at *attempt, rec *answerBuffer) error {
	headers, err := json.Marshal(rec.header)
	if err != nil {
		return err
	}
	return a.db.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		sealed, err := tx.Seal(ctx, at.claim.team, uuid.Nil, at.place(), rec.body.Bytes())
		if err != nil {
			return err
		}
		if !at.claimed {
			return at.insert(ctx, tx, tx.Now(), rec.status, headers, sealed)
		}
		_, err = tx.Exec(ctx, `UPDATE idempotency_keys SET status = $1, headers = $2, body = $3 WHERE team_id = $4 AND key_hash = $5`,
			rec.status, string(headers), sealed, at.claim.team, at.claim.key[:])
		return err
	})
}

func (at *attempt) place() string { return "idempotency_keys.body:" + string(at.claim.key[:]) }

// ForgetIdempotency removes answers older than IdempotencyKept.
func ForgetIdempotency(ctx context.Context, tx *store.Tx) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM idempotency_keys WHERE created_at < $1`, tx.Now().Add(-IdempotencyKept))
}

// answerBuffer holds an answer until it is stored.
type answerBuffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *answerBuffer) Header() http.Header         { return b.header }
func (b *answerBuffer) WriteHeader(status int)      { b.status = status }
func (b *answerBuffer) Write(p []byte) (int, error) { return b.body.Write(p) }

func (b *answerBuffer) writeTo(w http.ResponseWriter) {
	for name, values := range b.header {
		w.Header()[name] = values
	}
	w.WriteHeader(b.status)
	_, _ = w.Write(b.body.Bytes())
}

func (b *answerBuffer) replay(w http.ResponseWriter) {
	w.Header().Set(replayedHeader, "true")
	b.writeTo(w)
}
