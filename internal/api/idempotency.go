package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A creation sent again with the same Idempotency-Key gets the first answer
// again, for two weeks, success and failure alike. The same key with
// another request is a 409, and so is one whose first request still runs.
// Nothing is kept of requests that failed validation or never got here.
//
// A process may die at any moment, and the promise holds:
//
//   - A handler makes its change and its answer in one transaction (answering),
//     so both are there or neither is. Without an answer nothing has happened,
//     and the repeat is carried out as if it were the first.
//   - A handler that asks somebody between two transactions writes in the first
//     what it began (begins). The repeat is told of it (begun) and goes on.
//   - A push changes nothing when it is carried out again, so it is.
//   - An upload in parts lies in files alone, and grows. The repeat is told how it
//     is by then (renews). One that nobody heard of, or that is gone, is begun
//     anew.
//
// docs/decisions/0008-idempotent-answers.md says why; idempotency_rows.go is
// what is stored.
const (
	idempotencyHeader  = "Idempotency-Key"
	idempotencyTwin    = "X-Idempotency-Key"
	idempotencyErrors  = "X-Idempotency-Error"
	dryRunParameter    = "dry_run"
	longestIdempotency = 255
	// IdempotencyKept is how long answers are kept: what bookings at service
	// centers are promised (reference 1.10).
	IdempotencyKept = 14 * 24 * time.Hour
	// longestRun is how long a request without an answer may be said to run on
	// another node that is alive.
	longestRun = time.Minute
	// replayedHeader marks an answer that was given before.
	replayedHeader = "Idempotent-Replayed"
)

func idempotencyParameters() []*huma.Param {
	limit := longestIdempotency
	key := huma.Param{
		Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &limit},
		Description: "Makes the request safe to repeat: the same key and body get the first answer again.",
	}
	twin := key
	twin.Name, twin.Description = idempotencyTwin, "The same as "+idempotencyHeader+"."
	failures := huma.Param{
		Name: idempotencyErrors, In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "no-cache: a refusal is not kept, so that the key may be used again.",
	}
	return []*huma.Param{&key, &twin, &failures}
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

// Attempt is one request under an idempotency key.
type Attempt struct {
	claim   claim
	request []byte // its fingerprint
	node    uuid.UUID
	success int // status of the operation's success
	// repeatable requests change nothing when they are carried out again.
	repeatable bool
	resumes    string    // what an earlier attempt began and did not end
	subject    uuid.UUID // whom a good answer is about (idempotency_subject.go)

	claimed bool          // the row is committed and ours
	began   bool          // with a note of what a repeat goes on with
	beaten  bool          // another node committed first
	answer  *answerBuffer // what was committed with the change
	renewed string        // what the answer is about that is not kept: see renews
}

type attemptKey struct{}

// Commit runs a change that is one transaction. When the request has an
// Idempotency-Key its answer commits with it.
func Commit[T any](ctx context.Context, a *API, change func(tx *store.Tx) (T, error)) (*Out[T], error) {
	var body T
	err := a.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if body, err = change(tx); err != nil {
			return err
		}
		return RecordAnswer(ctx, tx, body)
	})
	if err != nil {
		return nil, err
	}
	return Answer(body), nil
}

// RecordAnswer is the part of answering for handlers with a transaction of their
// own: it comes last in it.
func RecordAnswer(ctx context.Context, tx *store.Tx, body any) error {
	at, ok := ctx.Value(attemptKey{}).(*Attempt)
	if !ok {
		return nil
	}
	rec := &answerBuffer{header: http.Header{}, status: at.success}
	if at.success != http.StatusNoContent {
		rec.header.Set("Content-Type", "application/json")
		if err := huma.DefaultJSONFormat.Marshal(&rec.body, body); err != nil {
			return err
		}
	}
	if subject := subjectOf(body); subject != uuid.Nil {
		at.subject = subject
	}
	tx.AfterCommit(func() { at.answer = rec })
	return at.record(ctx, tx, rec)
}

// RecordProgress notes, in the first of several transactions, what a repeat goes on
// with should this process die before there is an answer, and whom that will be
// about.
func RecordProgress(ctx context.Context, tx *store.Tx, user users.ID, what string) error {
	at, ok := ctx.Value(attemptKey{}).(*Attempt)
	if !ok {
		return nil
	}
	at.subject = user.UUID()
	return at.begins(ctx, tx, what)
}

// Progress is what an earlier attempt of the request gave to begins.
func Progress(ctx context.Context) (what string, ok bool) {
	at, _ := ctx.Value(attemptKey{}).(*Attempt)
	if at == nil {
		return "", false
	}
	return at.resumes, at.resumes != ""
}

func (a *API) idempotent(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	if idempotencyKey(r) == "" || IsDryRun(ctx) { // a dry run does nothing that could be done twice
		next(ctx)
		return
	}
	at, err := a.attempt(r, ctx.Operation().DefaultStatus)
	if err != nil {
		writeError(w, a.refusal(r.Context(), err))
		return
	}
	defer a.running.release(at.claim)
	body, err := io.ReadAll(io.LimitReader(r.Body, ctx.Operation().MaxBodyBytes+1))
	if err != nil {
		WriteDetail(w, http.StatusBadRequest, "The request body could not be read")
		return
	}
	at.request, at.subject = fingerprint(r, body), userInPath(ctx)
	at.repeatable, _ = ctx.Operation().Metadata[metaRepeatable].(bool)
	a.once(ctx, r, w, next, at, body)
}

// IsDryRun reports that an operation which can be tried is only tried. Of others
// the parameter is passed over, like everything that they do not know.
func IsDryRun(ctx huma.Context) bool {
	yes, err := strconv.ParseBool(ctx.Query(dryRunParameter)) // as the parameter is read
	return err == nil && yes && slices.ContainsFunc(ctx.Operation().Parameters, func(p *huma.Param) bool { return p.Name == dryRunParameter })
}

// idempotencyKey is the idempotency key of a request; empty for none.
func idempotencyKey(r *http.Request) string {
	return cmp.Or(r.Header.Get(idempotencyHeader), r.Header.Get(idempotencyTwin))
}

// attempt claims the key of a request on this node. Whoever gets one releases
// its claim.
func (a *API) attempt(r *http.Request, success int) (*Attempt, error) {
	key := idempotencyKey(r)
	if len(key) > longestIdempotency {
		return nil, fault.Newf(fault.Invalid, "String should have at most %d characters", longestIdempotency).WithType("string_too_long").At("header", idempotencyHeader)
	}
	at := &Attempt{claim: claimOf(CallerOf(r.Context()), key), node: a.nodeID(), success: success}
	if !a.running.take(at.claim) {
		return nil, errRuns
	}
	return at, nil
}

// in is a context whose writes claim the key and whose answers are kept under
// it.
func (at *Attempt) in(ctx context.Context) context.Context {
	return store.Alongside(context.WithValue(ctx, attemptKey{}, at), func(tx *store.Tx) error { return at.take(ctx, tx) })
}

// nodeID is who we are in rows that others see.
func (a *API) nodeID() uuid.UUID {
	if a.Node == nil {
		return uuid.Nil
	}
	return a.Node.ID()
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

// once replays what was answered before, or carries the request out.
func (a *API) once(ctx huma.Context, r *http.Request, w http.ResponseWriter, next func(huma.Context), at *Attempt, body []byte) {
	if a.replayed(r, w, at) {
		return
	}
	rec := at.carryOut(ctx, r, next, body)
	switch {
	case at.answer != nil: // what is sent is what was stored
		at.answer.writeTo(w)
	case at.beaten && a.replayed(r, w, at): // by another node's answer
	case at.renewed != "" && at.renewed == at.resumes:
		rec.replay(w)
	default:
		a.keepAlone(ctx, r, at, rec)
		rec.writeTo(w)
	}
}

// carryOut gives the request, whose body was read, to its handler.
func (at *Attempt) carryOut(ctx huma.Context, r *http.Request, next func(huma.Context), body []byte) *answerBuffer {
	rec := &answerBuffer{header: http.Header{}, status: http.StatusOK}
	again := r.WithContext(at.in(r.Context()))
	again.Body = io.NopCloser(bytes.NewReader(body))
	next(humachi.NewContext(ctx.Operation(), again, rec))
	return rec
}

// keepAlone keeps an answer that was not committed with a change, such as a
// refusal.
func (a *API) keepAlone(ctx huma.Context, r *http.Request, at *Attempt, rec *answerBuffer) {
	changed := at.claimed && !at.began && !at.repeatable
	if changed {
		a.Log.ErrorContext(r.Context(), "an operation does not answer in the transaction of its change", "operation", ctx.Operation().OperationID)
	}
	if !changed && (at.beaten || at.renewed != "" || !worthKeeping(r, rec.status)) {
		return
	}
	if err := a.keep(r.Context(), at, rec); err != nil {
		a.Log.ErrorContext(r.Context(), "answer of an idempotent request not kept", "request_id", requestID(r.Context()), "error", err)
	}
}

// replayed answers with what is stored under the key, when there is something
// or it cannot be read.
func (a *API) replayed(r *http.Request, w http.ResponseWriter, at *Attempt) bool {
	before, err := a.kept(r.Context(), at)
	switch {
	case err != nil:
		writeError(w, a.refusal(r.Context(), err))
	case before != nil:
		a.Metrics.Replay()
		before.replay(w)
	default:
		return false
	}
	return true
}

// closedByCaller is the status, seen in logs only, of a request whose caller
// went away.
const closedByCaller = 499

// worthKeeping reports whether a repeat gets this answer again. A caller may
// ask for successes only.
//
// Reference 1.10, X-Idempotency-Error.
func worthKeeping(r *http.Request, status int) bool {
	if r.Header.Get(idempotencyErrors) == "no-cache" && status >= http.StatusBadRequest {
		return false
	}
	return status != http.StatusUnprocessableEntity && status != closedByCaller && status < http.StatusInternalServerError
}

// CommitSuccess runs a change whose answer is only that it was made.
func (a *API) CommitSuccess(ctx context.Context, change func(tx *store.Tx) error) (*Out[SuccessBody], error) {
	if err := a.DB.Write(ctx, change); err != nil {
		return nil, err
	}
	return Answer(SuccessBody{true}), nil
}

// Handlers that read their own body carry out the steps of idempotent themselves:
// NewAttempt, Identify, ReplayAnswer, then Context for the change and RecordAnswer in its
// transaction, and WriteAnswer.

// HasIdempotencyKey reports whether a request has an idempotency key.
func HasIdempotencyKey(r *http.Request) bool { return idempotencyKey(r) != "" }

// NewAttempt claims the key of a request on this node. The caller ends it with
// EndAttempt. success is the status of the answer that is kept.
func (a *API) NewAttempt(r *http.Request, success int) (*Attempt, error) {
	return a.attempt(r, success)
}

// EndAttempt releases the key on this node.
func (a *API) EndAttempt(at *Attempt) { a.running.release(at.claim) }

// ReplayAnswer answers with what is stored under the key, when there is something.
func (a *API) ReplayAnswer(w http.ResponseWriter, r *http.Request, at *Attempt) bool {
	return a.replayed(r, w, at)
}

// Identify notes what the request asks for and the user it is about. digest stands for
// the body.
func (at *Attempt) Identify(r *http.Request, digest []byte, subject uuid.UUID) {
	at.request, at.subject = fingerprint(r, digest), subject
}

// Context is a context whose writes claim the key.
func (at *Attempt) Context(ctx context.Context) context.Context { return at.in(ctx) }

// Beaten reports that another node committed an answer under the key first.
func (at *Attempt) Beaten() bool { return at.beaten }

// WriteAnswer sends the answer that was committed with the change.
func (at *Attempt) WriteAnswer(w http.ResponseWriter) { at.answer.writeTo(w) }

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

// A kept answer about a person is sealed with that person's key and removed
// with everything else of theirs: it is as personal as what it answers about.

// Personal bodies name the user whose key seals the answer that is kept. A result
// that belongs to no user yet names itself.
type Personal interface{ Subject() uuid.UUID }

// subjectOf returns the subject of a personal body. It is uuid.Nil for what is the
// team's own, and where only the path of the request names a user (userInPath).
func subjectOf(body any) uuid.UUID {
	if b, ok := body.(Personal); ok {
		return b.Subject()
	}
	return uuid.Nil
}

// userInPath is the user under whose path an operation stands.
func userInPath(ctx huma.Context) uuid.UUID {
	id, err := ids.Parse[users.User](ctx.Param("user_id"))
	if err != nil {
		return uuid.Nil // validation refuses it
	}
	return id.UUID()
}

// keyOf is with whose key an answer is sealed. A refusal names fields and holds
// nothing of a person, who may not even exist; the team's key will do.
func (at *Attempt) keyOf(rec *answerBuffer) uuid.UUID {
	if rec.status >= http.StatusBadRequest {
		return uuid.Nil
	}
	return at.subject
}

// stored is a subject as a statement takes it: NULL for nobody.
func stored(subject uuid.UUID) any {
	if subject == uuid.Nil {
		return nil
	}
	return subject
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return []users.Records{{Name: "idempotency_keys", Erase: eraseAnswers}}
}

// eraseAnswers removes what was answered about a user.
func eraseAnswers(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	_, err = tx.Exec(ctx, `DELETE FROM idempotency_keys WHERE team_id = $1 AND subject_id = $2`, team, user)
	return false, err
}
