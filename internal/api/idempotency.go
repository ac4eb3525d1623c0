package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
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

// A creation that is repeated with the same Idempotency-Key gets the first answer
// again, for two weeks, whether it succeeded or failed. The same key with another
// request is a 409. So is a repeat while the first request still runs. Requests that
// fail validation store nothing.
//
// This holds even if the process dies at any moment:
//
//   - A handler makes its change and stores its answer in one transaction (Commit), so
//     both exist or neither does. Without an answer nothing has happened, and a repeat
//     runs as if it were the first request.
//   - A handler that calls another system between two transactions stores its progress in
//     the first one (RecordProgress). The repeat reads it (Progress) and resumes.
//   - A push has the same effect when it runs again, so it runs again.
//   - An upload in parts consists of files and grows. No answer is stored; a repeat gets
//     the current state (RecordRenewal). If the upload was never started or no longer
//     exists, the repeat starts it again.
//
// docs/decisions/0008-idempotent-answers.md gives the reasons. idempotency_store.go has
// the storage.
const (
	idempotencyHeader = "Idempotency-Key"
	idempotencyTwin   = "X-Idempotency-Key"
	idempotencyErrors = "X-Idempotency-Error"
	dryRunParameter   = "dry_run"
	maxIdempotencyKey = 255
	// IdempotencyRetention is the time for which answers are stored. It is the time that the
	// reference promises for bookings at service centers (reference 1.10).
	IdempotencyRetention = 14 * 24 * time.Hour
	// maxRunTime is the time for which a request without an answer counts as running on
	// another living node.
	maxRunTime = time.Minute
	// replayedHeader marks a stored answer that is returned again.
	replayedHeader = "Idempotent-Replayed"
)

func idempotencyParameters() []*huma.Param {
	limit := maxIdempotencyKey
	key := huma.Param{
		Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &limit},
		Description: "Makes the request safe to repeat: the same key and body get the first answer again.",
	}
	twin := key
	twin.Name, twin.Description = idempotencyTwin, "The same as "+idempotencyHeader+"."
	failures := huma.Param{
		Name: idempotencyErrors, In: "header", Schema: &huma.Schema{Type: huma.TypeString},
		Description: "no-cache: a refusal is not stored, so the key can be used again.",
	}
	return []*huma.Param{&key, &twin, &failures}
}

// metaRepeatable marks operations that have the same effect when they run again.
const metaRepeatable = "hale.repeatable"

// metaReads marks operations that change nothing.
const metaReads = "hale.reads"

// metaStrict marks operations that refuse unknown query parameters.
const metaStrict = "hale.strict"

// claims contains the keys whose first request runs on this node.
type claims struct {
	mu      sync.Mutex
	running map[claim]bool
}

type claim struct {
	team uuid.UUID
	key  [32]byte
}

func (c *claims) take(k claim) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[k] {
		return false
	}
	c.running[k] = true
	return true
}

func (c *claims) release(k claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, k)
}

// Attempt is one execution of a request with an idempotency key.
type Attempt struct {
	claim   claim
	request []byte   // the fingerprint of the request
	older   [][]byte // its fingerprints by the rules of earlier versions
	node    uuid.UUID
	success int // status of the operation's success
	// repeatable requests have the same effect when they run again.
	repeatable bool
	progress   string    // progress of an earlier attempt that did not end
	subject    uuid.UUID // the person that a successful answer is about; see Personal

	claimed     bool          // the row is committed and belongs to this attempt
	hasProgress bool          // the row contains progress from which a repeat resumes
	overtaken   bool          // another node committed first
	answer      *answerBuffer // the answer that was committed with the change
	renewal     string        // the progress of a request without a stored answer; see RecordRenewal
}

type attemptKey struct{}

// Commit runs a change that is one transaction. If the request has an Idempotency-Key,
// its answer commits with the change.
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

// RecordAnswer stores the answer, for handlers with their own transaction. It must be
// the last step of the transaction.
func RecordAnswer(ctx context.Context, tx *store.Tx, body any) error {
	at, ok := ctx.Value(attemptKey{}).(*Attempt)
	if !ok {
		return nil
	}
	rec := &answerBuffer{header: http.Header{}, status: at.success}
	if at.success != http.StatusNoContent {
		rec.header.Set("Content-Type", "application/json")
		tag, err := entityTagOf(body)
		if err != nil {
			return err
		}
		if tag != "" {
			rec.header.Set(tagHeader, tag)
		}
		if err := huma.DefaultJSONFormat.Marshal(&rec.body, body); err != nil {
			return err
		}
	}
	if subject := subjectOf(body); subject != uuid.Nil {
		at.subject = subject
	}
	tx.AfterCommit(func() { at.answer = rec })
	return at.storeAnswer(ctx, tx, rec)
}

// RecordProgress stores, in the first of several transactions, the progress from which
// a repeat resumes if this process dies before there is an answer. user is the person
// that the answer will be about.
func RecordProgress(ctx context.Context, tx *store.Tx, user users.ID, what string) error {
	at, ok := ctx.Value(attemptKey{}).(*Attempt)
	if !ok {
		return nil
	}
	at.subject = user.UUID()
	return at.storeProgress(ctx, tx, what)
}

// Progress returns the progress that an earlier attempt of the request stored.
func Progress(ctx context.Context) (what string, ok bool) {
	at, _ := ctx.Value(attemptKey{}).(*Attempt)
	if at == nil {
		return "", false
	}
	return at.progress, at.progress != ""
}

func (a *API) idempotent(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	if idempotencyKey(r) == "" || IsDryRun(ctx) { // a dry run changes nothing
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
	at.identify(r, body)
	at.subject = userInPath(ctx)
	at.repeatable, _ = ctx.Operation().Metadata[metaRepeatable].(bool)
	a.runOnce(ctx, r, w, next, at, body)
}

// IsDryRun reports whether an operation with a dry run is called as one. Other
// operations ignore the parameter, like every unknown parameter.
func IsDryRun(ctx huma.Context) bool {
	yes, err := strconv.ParseBool(ctx.Query(dryRunParameter)) // parsed like the parameter itself
	return err == nil && yes && slices.ContainsFunc(ctx.Operation().Parameters, func(p *huma.Param) bool { return p.Name == dryRunParameter })
}

// identify sets the fingerprints of the request. Earlier versions kept the order of keys
// and the escapes, and before that also the white space.
func (at *Attempt) identify(r *http.Request, body []byte) {
	at.request, at.older = fingerprint(r, body), nil
	if len(body) > maxCanonical {
		return
	}
	var compact bytes.Buffer
	if canonical, ok := canonicalJSON(body); ok && json.Compact(&compact, body) == nil {
		at.request, at.older = fingerprint(r, canonical), [][]byte{at.request, fingerprint(r, compact.Bytes())}
	}
}

// isRequest reports whether a stored fingerprint is that of this request.
func (at *Attempt) isRequest(stored []byte) bool {
	return bytes.Equal(stored, at.request) || slices.ContainsFunc(at.older, func(f []byte) bool { return bytes.Equal(stored, f) })
}

// maxCanonical is the size of the largest body of which equal JSON is the same request.
const maxCanonical = 1 << 20

// canonicalJSON returns JSON without white space, with sorted keys and the shortest
// escapes: equal JSON is the same request. Numbers are equal only if their texts are.
func canonicalJSON(body []byte) ([]byte, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || len(bytes.TrimSpace(body[decoder.InputOffset():])) > 0 {
		return nil, false
	}
	canonical, err := json.Marshal(value)
	return canonical, err == nil
}

// idempotencyKey returns the idempotency key of a request, or "".
func idempotencyKey(r *http.Request) string {
	return cmp.Or(r.Header.Get(idempotencyHeader), r.Header.Get(idempotencyTwin))
}

// checkIdempotencyKeys refuses a request with different idempotency keys.
func checkIdempotencyKeys(r *http.Request) error {
	first := ""
	for _, name := range []string{idempotencyHeader, idempotencyTwin} {
		for _, key := range r.Header.Values(name) {
			if key != "" && first != "" && key != first {
				return fault.New(fault.Invalid, "differs from another idempotency key of the request; send one of them").WithType("idempotency_key_conflict").At("header", name)
			}
			first = cmp.Or(first, key)
		}
	}
	return nil
}

// oneIdempotencyKey refuses changes with different idempotency keys, also those that
// have no use for a key.
func (a *API) oneIdempotencyKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if err := checkIdempotencyKeys(r); err != nil {
				writeError(w, a.refusal(r.Context(), err))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// attempt claims the key of a request on this node. The caller must release the claim.
func (a *API) attempt(r *http.Request, success int) (*Attempt, error) {
	key := idempotencyKey(r)
	if err := checkIdempotencyKeys(r); err != nil {
		return nil, err
	}
	if len(key) > maxIdempotencyKey {
		return nil, fault.Newf(fault.Invalid, "String should have at most %d characters", maxIdempotencyKey).WithType("string_too_long").At("header", idempotencyHeader)
	}
	at := &Attempt{claim: claimOf(CallerOf(r.Context()), key), node: a.nodeID(), success: success}
	if !a.running.take(at.claim) {
		return nil, errRunning
	}
	return at, nil
}

// contextWithClaim returns a context whose writes claim the key and store the answer with it.
func (at *Attempt) contextWithClaim(ctx context.Context) context.Context {
	return store.WithExtraWrite(context.WithValue(ctx, attemptKey{}, at), func(tx *store.Tx) error { return at.claimRow(ctx, tx) })
}

// nodeID returns the id of this node for rows that other nodes read.
func (a *API) nodeID() uuid.UUID {
	if a.Node == nil {
		return uuid.Nil
	}
	return a.Node.ID()
}

// claimOf returns the claim of a key. The keys of phones are separated by user, because
// two phones may choose the same key.
func claimOf(c Caller, key string) claim {
	if !c.User.IsZero() {
		key = c.User.String() + "\x00" + key
	}
	return claim{c.Team.UUID(), [32]byte(secrets.Hash(key))}
}

// fingerprint returns a digest that identifies the request.
func fingerprint(r *http.Request, body []byte) []byte {
	h := sha256.New()
	for _, part := range []string{r.Method, r.URL.Path, r.URL.RawQuery} {
		_, _ = io.WriteString(h, part)
		h.Write([]byte{0})
	}
	h.Write(body)
	return h.Sum(nil)
}

// runOnce returns the stored answer, or runs the request.
func (a *API) runOnce(ctx huma.Context, r *http.Request, w http.ResponseWriter, next func(huma.Context), at *Attempt, body []byte) {
	if a.replayStored(r, w, at) {
		return
	}
	rec := at.runHandler(ctx, r, next, body)
	switch {
	case at.answer != nil: // the sent answer equals the stored one
		at.answer.writeTo(w)
	case at.overtaken && a.replayStored(r, w, at): // the answer of another node
	case at.renewal != "" && at.renewal == at.progress:
		rec.replay(w)
	default:
		a.storeUncommitted(ctx, r, at, rec)
		rec.writeTo(w)
	}
}

// runHandler runs the handler with the body that was read.
func (at *Attempt) runHandler(ctx huma.Context, r *http.Request, next func(huma.Context), body []byte) *answerBuffer {
	rec := &answerBuffer{header: http.Header{}, status: http.StatusOK}
	again := r.WithContext(at.contextWithClaim(r.Context()))
	again.Body = io.NopCloser(bytes.NewReader(body))
	next(humachi.NewContext(ctx.Operation(), again, rec))
	return rec
}

// storeUncommitted stores an answer that was not committed with a change, such as a refusal.
func (a *API) storeUncommitted(ctx huma.Context, r *http.Request, at *Attempt, rec *answerBuffer) {
	changed := at.claimed && !at.hasProgress && !at.repeatable
	if changed {
		a.Log.ErrorContext(r.Context(), "an operation does not answer in the transaction of its change", "operation", ctx.Operation().OperationID)
	}
	if !changed && (at.overtaken || at.renewal != "" || !isStorable(r, rec.status)) {
		return
	}
	if err := a.storeSeparately(r.Context(), at, rec); err != nil {
		a.Log.ErrorContext(r.Context(), "the answer of an idempotent request cannot be stored", "request_id", requestID(r.Context()), "error", err)
	}
}

// replayStored answers with the stored answer of the key, or with the error if it cannot be
// read. It reports whether it answered.
func (a *API) replayStored(r *http.Request, w http.ResponseWriter, at *Attempt) bool {
	before, err := a.findAnswer(r.Context(), at)
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

// closedByCaller is the status of a request whose caller disconnected. It appears only
// in logs.
const closedByCaller = 499

// isStorable reports whether an answer is stored for repeats. A caller may request to
// store only successes.
//
// Reference 1.10, X-Idempotency-Error.
func isStorable(r *http.Request, status int) bool {
	if r.Header.Get(idempotencyErrors) == "no-cache" && status >= http.StatusBadRequest {
		return false
	}
	return status != http.StatusUnprocessableEntity && status != http.StatusPreconditionFailed && status != closedByCaller && status < http.StatusInternalServerError
}

// CommitSuccess runs a change whose answer is only that it succeeded.
func (a *API) CommitSuccess(ctx context.Context, change func(tx *store.Tx) error) (*Out[SuccessBody], error) {
	return Commit(ctx, a, func(tx *store.Tx) (SuccessBody, error) { return SuccessBody{true}, change(tx) })
}

// A handler that reads its own body calls the steps of idempotent itself, in this order:
//
//   - NewAttempt, Identify and ReplayAnswer;
//   - Context for the change, and RecordAnswer in the transaction of the change;
//   - WriteAnswer.

// HasIdempotencyKey reports whether a request has an idempotency key.
func HasIdempotencyKey(r *http.Request) bool { return idempotencyKey(r) != "" }

// NewAttempt claims the key of a request on this node. The caller releases it with
// EndAttempt. success is the status of a successful answer.
func (a *API) NewAttempt(r *http.Request, success int) (*Attempt, error) {
	return a.attempt(r, success)
}

// EndAttempt releases the key on this node.
func (a *API) EndAttempt(at *Attempt) { a.running.release(at.claim) }

// ReplayAnswer answers with the stored answer of the key and reports whether there is
// one.
func (a *API) ReplayAnswer(w http.ResponseWriter, r *http.Request, at *Attempt) bool {
	return a.replayStored(r, w, at)
}

// Identify sets the fingerprint of the request and the user that it is about. digest
// replaces the body.
func (at *Attempt) Identify(r *http.Request, digest []byte, subject uuid.UUID) {
	at.request, at.subject = fingerprint(r, digest), subject
}

// Context returns a context whose writes claim the key.
func (at *Attempt) Context(ctx context.Context) context.Context { return at.contextWithClaim(ctx) }

// Overtaken reports whether another node committed an answer for the key first.
func (at *Attempt) Overtaken() bool { return at.overtaken }

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

// A stored answer about a person is as personal as its subject. It is sealed with the
// person's key and erased with the person's other data.

// Personal is implemented by bodies about a user. Subject returns the user whose key
// seals the stored answer, or the result's own id for a result without a user.
type Personal interface{ Subject() uuid.UUID }

// subjectOf returns the subject of a personal body. It is uuid.Nil for data of the
// team, and for bodies whose user is named only by the path (userInPath).
func subjectOf(body any) uuid.UUID {
	if b, ok := body.(Personal); ok {
		return b.Subject()
	}
	return uuid.Nil
}

// userInPath returns the user that the path names.
func userInPath(ctx huma.Context) uuid.UUID {
	id, err := ids.Parse[users.User](ctx.Param("user_id"))
	if err != nil {
		return uuid.Nil // validation refuses it
	}
	return id.UUID()
}

// sealingSubject returns the subject whose key seals an answer. A refusal names fields and
// contains no personal data, and its user may not exist, so the team's key seals it.
func (at *Attempt) sealingSubject(rec *answerBuffer) uuid.UUID {
	if rec.status >= http.StatusBadRequest {
		return uuid.Nil
	}
	return at.subject
}

// nullableSubject returns a subject as an SQL argument: NULL for none.
func nullableSubject(subject uuid.UUID) any {
	if subject == uuid.Nil {
		return nil
	}
	return subject
}

// UserRecords returns the rows about users in this package.
func UserRecords() []users.Records {
	return []users.Records{{Name: "idempotency_keys", Erase: eraseAnswers}}
}

// eraseAnswers deletes the stored answers about a user.
func eraseAnswers(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	_, err = tx.Exec(ctx, `DELETE FROM idempotency_keys WHERE team_id = $1 AND subject_id = $2`, team, user)
	return false, err
}
