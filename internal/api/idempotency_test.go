package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// What became of a request is kept though its caller has hung up meanwhile.
func TestAnAnswerIsKeptForACallerWhoHungUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a := &API{db: db}
		team := userstest.Team(t, db).ID
		ctx, hangUp := context.WithCancel(store.WithTeam(t.Context(), team.UUID()))
		at := &attempt{claim: claimOf(Caller{Team: team}, "key"), request: []byte("request"), node: uuid.New(), success: http.StatusOK}
		rec := &answerBuffer{header: http.Header{}, status: http.StatusNotFound}
		rec.body.WriteString(`{"detail":"Order not found"}`)
		hangUp()
		if err := a.keep(ctx, at, rec); err != nil {
			t.Fatal(err)
		}
		again := *at
		kept, err := a.kept(context.WithoutCancel(ctx), &again)
		if err != nil || kept == nil || kept.status != http.StatusNotFound || kept.body.String() != `{"detail":"Order not found"}` {
			t.Errorf("%+v, %v", kept, err)
		}
	})
}

// keyed sends a request under an idempotency key.
func (c *caller) keyed(key, path, body string) (int, string) {
	c.t.Helper()
	r := httptest.NewRequestWithContext(c.t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("x-service-api-key", c.key)
	r.Header.Set(idempotencyHeader, key)
	w := httptest.NewRecorder()
	c.door.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// A dry run uses no key up, however its parameter is written. The parameter lets
// no operation that does not have it pass by the key.
func TestDryRunsAndKeys(t *testing.T) {
	c, body := ordering(t)
	for _, yes := range []string{"true", "1", "TRUE", "t"} {
		if status, got := c.keyed("one", "/v3/order?dry_run="+yes, body); status != http.StatusOK || !strings.Contains(got, `"valid":true`) {
			t.Errorf("%s: %d %s", yes, status, got)
		}
	}
	if status, got := c.keyed("one", "/v3/order", body); status != http.StatusOK {
		t.Errorf("%d %s", status, got)
	}
	_, first := c.keyed("two", "/v2/user?dry_run=true", `{"client_user_id":"b"}`)
	if status, again := c.keyed("two", "/v2/user?dry_run=true", `{"client_user_id":"b"}`); status != http.StatusOK || again != first {
		t.Errorf("%d %s", status, again)
	}
}
