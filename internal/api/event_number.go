package api

import (
	"net/http"
	"strconv"

	"hale/internal/platform/events"
)

// eventNumberHeader has the number of an event in every answer to a read. The answer
// contains the changes of all events up to it. It may contain later ones too.
const eventNumberHeader = "X-Hale-Event-Seq"

// numberReads sets the header, in answers to HEAD too. It reads the number before the
// handler reads anything.
func (a *API) numberReads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := CallerOf(r.Context()); (r.Method == http.MethodGet || r.Method == http.MethodHead) && !c.Team.IsZero() {
			n, err := events.Latest(r.Context(), a.DB, c.Team.UUID())
			if err != nil {
				writeError(w, a.refusal(r.Context(), err))
				return
			}
			w.Header().Set(eventNumberHeader, strconv.FormatInt(n, 10))
		}
		next.ServeHTTP(w, r)
	})
}
