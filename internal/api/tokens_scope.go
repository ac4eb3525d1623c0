package api

import (
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
)

// own lets a person's phone call the operation, for that person: see
// ownDataOnly. The path names the user as user_id, or the handler sees to whose
// data it is (API.session). Every other operation is for the team's key alone.
func (rt route) own() route {
	rt.ownData = true
	rt.op.Description += "A phone that is signed in as the user may call it for that user, with its access token."
	return rt
}

// open lets anybody call the operation, without a key.
func (rt route) open() route {
	rt.anybody = true
	rt.op.Security = []map[string][]string{}
	return rt
}

// named is how the tables of open and own operations name a request.
func named(r *http.Request) string {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return method + " " + chi.RouteContext(r.Context()).RoutePattern()
}

// othersData refuses a phone what is not its user's.
const othersData = "This token is for sending and reading its own user's data only"

// ownDataOnly refuses a phone everything but its own user's data: an operation
// that is not marked own, and another user's id, whether there is such a user
// or not. It runs before the handler sees anything of the request.
func (a *API) ownDataOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := CallerOf(r.Context()); !c.User.IsZero() {
			if !a.own[named(r)] || !isOwn(r, c.User) {
				writeDetail(w, http.StatusForbidden, othersData)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// isOwn tells that the path names the user, or nobody.
func isOwn(r *http.Request, user users.ID) bool {
	named := chi.RouteContext(r.Context()).URLParams.Keys
	if !slices.Contains(named, "user_id") {
		return true
	}
	id, err := ids.Parse[users.User](chi.URLParam(r, "user_id"))
	return err == nil && id == user
}

// limitedAs is what the caller's rate is counted by: its key, or its phone.
func (c Caller) limitedAs() uuid.UUID {
	if c.User.IsZero() {
		return c.Key.UUID()
	}
	return c.Session.UUID()
}
