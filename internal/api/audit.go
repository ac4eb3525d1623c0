package api

import (
	"net/http"
	"strings"
	"unicode"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/ids"
)

// OnBehalfOfHeader is a header of requests. A caller may set it to the id of a person of
// its own organization, such as a physician who looks at a result.
const OnBehalfOfHeader = "X-Hale-On-Behalf-Of"

// longestOnBehalfOf is the maximum length of the header's value.
const longestOnBehalfOf = 128

// audited notes each request of a known caller in the audit log. Changes insert their
// rows in their own transactions; other requests are written within a second.
func (a *API) audited(next http.Handler) http.Handler {
	if a.Audit == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := CallerOf(r.Context())
		if c.Team.IsZero() {
			next.ServeHTTP(w, r)
			return
		}
		name := r.Header.Get(OnBehalfOfHeader)
		if len(name) > longestOnBehalfOf || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
			WriteDetail(w, http.StatusBadRequest, OnBehalfOfHeader+" must be at most 128 printable characters")
			return
		}
		op := a.audits[requestName(r)]
		trail := audit.NewTrail(a.auditEntry(r, c, op.name, name), op.success)
		ctx := audit.WithTrail(r.Context(), trail)
		if !op.shared && r.Method != http.MethodGet && r.Method != http.MethodHead {
			ctx = audit.InTransactions(ctx)
		}
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			status := answer.Status()
			if status == 0 {
				status = http.StatusOK
			}
			a.Audit.Add(trail.Finish(status)...)
		}()
		next.ServeHTTP(answer, r.WithContext(ctx))
	})
}

// auditedOperation has the facts about an operation that the audit log needs.
type auditedOperation struct {
	name    string
	success int
	// shared operations may share a transaction with other requests. The code that
	// stores them inserts the rows.
	shared bool
}

func (a *API) auditEntry(r *http.Request, c Caller, action, onBehalfOf string) audit.Entry {
	e := audit.Entry{
		Team: c.Team.UUID(), At: a.DB.Now(), ActorKind: audit.ActorKey, Actor: c.Key.String(), OnBehalfOf: onBehalfOf,
		Action: action, Address: audit.HostOf(r.RemoteAddr), RequestID: requestID(r.Context()),
	}
	if !c.User.IsZero() {
		e.ActorKind, e.Actor = audit.ActorPhone, c.Session.String()
	}
	params := chi.RouteContext(r.Context()).URLParams
	for i, key := range params.Keys {
		switch {
		case key == "user_id":
			if id, err := ids.Parse[users.User](params.Values[i]); err == nil {
				user := id.UUID()
				e.User = &user
			}
		case strings.HasSuffix(key, "_id"):
			if id, err := uuid.Parse(params.Values[i]); err == nil { // other texts may be personal
				e.Object = id.String()
			}
		}
	}
	return e
}

// audits returns the facts for the audit log.
func (rt *Route) audits() auditedOperation {
	return auditedOperation{rt.op.OperationID, rt.op.DefaultStatus, rt.rawBody}
}
