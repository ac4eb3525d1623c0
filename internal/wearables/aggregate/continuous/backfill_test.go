package continuous_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/aggregate/continuous"
)

// The result table of a new query covers existing data, for the users who have such
// data and for no other user. Its rows are announced.
func TestANewQueryCoversStoredData(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		s.push("2026-03-01T10", 100)
		var other struct {
			ID string `json:"user_id"`
		}
		s.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"bob"}`, &other)
		s.Expect(http.StatusOK, "POST", "/v2/timeseries/"+other.ID+"/heartrate",
			`{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2026-03-01T10:00:00Z","value":60}]}`, nil)
		id := s.create(stepsByDay)
		s.backfill(id)
		if got := s.await(1); !strings.Contains(got, `"sum.value":[100]`) {
			t.Errorf("the event %s", got)
		}
		const table = `{"table":{"group_key.0":["2026-03-01T00:00:00"],"sum.value":[100]}}`
		if got := s.result(id); got != table {
			t.Errorf("the table %s", got)
		}
		if n := s.runs(other.ID, id); n != 0 {
			t.Errorf("%d runs for a user without such data", n)
		}
		s.backfill(id) // again: nothing is new
		for range 500 {
			if s.runs(s.user, id) == 2 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.got) != 1 {
			t.Errorf("announced %d times", len(s.got))
		}
	})
}

// The walk covers all users, even if they do not fit on one page.
func TestBackfillWalksOverAllUsers(t *testing.T) {
	s := begin(t, storetest.NewSQLite(t))
	const many = 203
	for i := range many {
		var user struct {
			ID string `json:"user_id"`
		}
		s.Expect(http.StatusOK, "POST", "/v2/user", fmt.Sprintf(`{"client_user_id":"user-%d"}`, i), &user)
		s.user = user.ID
		s.push("2026-03-01T10", 100)
	}
	s.backfill(s.create(stepsByDay))
	s.await(many)
}

// backfill runs at once the backfill that a job runs some seconds later.
func (s *scenario) backfill(query string) {
	s.t.Helper()
	team := uuid.MustParse(strings.Split(s.org, "/")[3])
	id, err := ids.Parse[continuous.Query](query)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := continuous.Backfill(store.WithTeam(s.t.Context(), team), s.DB, team, id); err != nil {
		s.t.Fatal(err)
	}
}

// runs counts the runs of a query for a user that are over.
func (s *scenario) runs(user, query string) (n int) {
	s.t.Helper()
	var history struct {
		Data []struct {
			Ended *string `json:"ended_at"`
		}
	}
	s.Get("/aggregate/v1/user/"+user+"/continuous_query/"+query+"/task_history", &history)
	for _, run := range history.Data {
		if run.Ended != nil {
			n++
		}
	}
	return n
}
