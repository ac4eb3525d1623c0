package api

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
)

// imported is a row of an import as a node would have left it.
type imported struct {
	kind, status, stage, error string
	attempts                   int
}

func (d dataDoor) imported(i imported) (id string) {
	d.t.Helper()
	userstest.Write(d.t, d.db, func(ctx context.Context, tx *store.Tx) error {
		made := tx.NewUUID()
		id = made.String()
		_, err := tx.Exec(ctx, `INSERT INTO imports (team_id, user_id, id, kind, size, sha256, history_only, status, stage, spool,
				step, done, total, records, skipped, error, attempts, created_at, started_at)
			VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, '', 0, 0, 0, 0, $10, $11, $12, $12)`,
			d.team.ID, d.user.ID, made, i.kind, []byte{}, false, i.status, i.stage, uuid.NewString(), i.error, i.attempts, tx.Now())
		return err
	})
	return id
}

// An import that is on its way, is tried again or has failed shows where its
// past would be, with the id by which its own story can be read.
func TestIntrospectHistoryTellsOfImports(t *testing.T) {
	for _, c := range []struct {
		imported
		status, problem string
	}{
		{imported{"health_connect", "queued", "", "", 0}, "scheduled", ""},
		{imported{"health_connect", "running", "historical", "", 1}, "in_progress", ""},
		{imported{"health_connect", "queued", "historical", "an attempt failed; it will be tried again", 2}, "retrying", "resource_contention"},
		{imported{"health_connect", "failed", "historical", "the file is cut short", 1}, "failure", "non_retriable_error"},
		{imported{"health_connect", "failed", "historical", "an internal error", 6}, "failure", "retry_quota_exhausted"},
	} {
		t.Run(c.imported.status+fmt.Sprint(c.attempts), func(t *testing.T) {
			eachDataDoor(t, func(d dataDoor) {
				id := d.imported(c.imported)
				got := d.pull("health_connect", "heartrate")
				problem := ""
				if got.ErrorDetails != nil {
					problem = *got.ErrorDetails
				}
				if string(got.Status) != c.status || problem != c.problem || got.Attempts != c.attempts || got.TraceID == nil || *got.TraceID != id {
					t.Errorf("%+v, %s", got, problem)
				}
			})
		})
	}
}

// So it is of every kind that brings a past.
func TestIntrospectHistoryTellsOfAllKinds(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for kind, at := range map[string][2]string{
			"oura": {"oura", "sleep"}, "strava": {"strava", "workouts"}, "whoop": {"whoop_v2", "sleep"}, "suunto": {"manual", "steps"},
		} {
			if got := d.pull(at[0], at[1]); got.Status != "" {
				t.Errorf("%s, before: %+v", kind, got)
			}
			id := d.imported(imported{kind, "failed", "historical", "the file is cut short", 1})
			if got := d.pull(at[0], at[1]); got.Status != "failure" || got.TraceID == nil || *got.TraceID != id {
				t.Errorf("%s: %+v", kind, got)
			}
		}
	})
}

func TestIntrospectHistoryLeavesWhatIsThere(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var pushed pushBody
		final := `,"start_date":"2026-01-01","end_date":"2026-02-28","is_final_chunk":true`
		d.post(d.path("/v2/timeseries/{user_id}/heartrate"), historical(heartbeats(3), final), &pushed)
		d.imported(imported{"apple_health", "failed", "historical", "the file is cut short", 1})
		if got := d.pull("apple_health_kit", "heartrate"); got.Status != "success" {
			t.Errorf("%+v", got)
		}
		if got := d.pull("apple_health_kit", "steps"); got.Status != "failure" {
			t.Errorf("%+v", got)
		}
		d.imported(imported{"apple_health", "succeeded", "historical", "", 1}) // a later one counts
		d.imported(imported{"apple_health", "failed", "daily", "", 1})         // brings no past
		d.imported(imported{"fit", "failed", "historical", "", 1})             // a recording
		if got := d.pull("apple_health_kit", "steps"); got.Status != "" {
			t.Errorf("%+v", got)
		}
	})
}

func (d dataDoor) pull(provider, resource string) pullBody {
	d.t.Helper()
	var pulls pullsBody
	d.get("/v2/introspect/historical_pull?user_id="+d.user.ID.String(), &pulls)
	return pulls.Data[0].Provider[provider].Pulled[resource]
}
