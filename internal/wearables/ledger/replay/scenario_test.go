package replay_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

// The test covers the whole service. An export is imported, a phone pushes, and
// the raw reads have both. Then the mapping changes, and events announce only
// the data that the former mapping had wrong.
func TestReprocessingThroughTheService(t *testing.T) {
	var export strings.Builder
	if _, err := applehealthtest.WriteZip(&export, applehealthtest.Options{Days: 2}); err != nil {
		t.Fatal(err)
	}
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var user struct {
			ID string `json:"user_id"`
		}
		s.Expect(200, "POST", "/v2/user/", `{"client_user_id": "ann"}`, &user)
		var made struct{ ID, Status string }
		s.Expect(202, "POST", "/v2/user/"+user.ID+"/imports", export.String(), &made)
		await(t, s, "/v2/user/"+user.ID+"/imports/"+made.ID)
		s.Expect(200, "POST", "/v2/summary/activity/"+user.ID, `{"stage":"daily","provider":"health_connect","data":[{"calendar_date":"2026-02-01","steps":77,"own":"word"}]}`, &made)

		var raw struct {
			Activity []struct {
				Data   map[string]any
				Source struct{ Slug string }
			}
		}
		s.Get("/v2/summary/activity/"+user.ID+"/raw?start_date=2020-01-01", &raw)
		kinds := map[string]bool{}
		for _, one := range raw.Activity {
			kinds[one.Source.Slug] = true
			if one.Source.Slug == "health_connect" && one.Data["own"] != "word" || one.Source.Slug == "apple_health_kit" && one.Data["kind"] != "apple_health" {
				t.Errorf("%+v", one)
			}
		}
		if !kinds["health_connect"] || !kinds["apple_health_kit"] {
			t.Errorf("raw of %v", kinds)
		}
		var devices []struct {
			Model string `json:"device_model"`
		}
		if s.Get("/v2/user/"+user.ID+"/device", &devices); len(devices) == 0 {
			t.Error("the export names devices, and the user has none")
		}

		ctx := store.AsSystem(t.Context())
		if err := s.DB.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE payloads SET mapping = 0`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var run struct {
			ID, Status string
			Report     struct {
				Users, Payloads int
				Resources       map[string]json.RawMessage
			}
		}
		s.Expect(202, "POST", "/v2/team/renormalise", `{"dry_run": true}`, &run)
		await(t, s, "/v2/team/renormalise/"+run.ID)
		s.Expect(202, "POST", "/v2/team/renormalise", `{}`, &run)
		await(t, s, "/v2/team/renormalise/"+run.ID)
		s.Get("/v2/team/renormalise/"+run.ID, &run)
		if run.Status != "succeeded" || run.Report.Users != 1 || run.Report.Payloads != 2 || len(run.Report.Resources) != 0 {
			t.Errorf("%+v", run)
		}
		var list struct{ Runs []struct{ ID string } }
		if s.Get("/v2/team/renormalise", &list); len(list.Runs) != 2 || list.Runs[0].ID != run.ID {
			t.Errorf("%+v", list)
		}
	})
}

// await waits until the import or the run at a path has ended.
func await(t *testing.T, s *apptest.Service, path string) {
	t.Helper()
	var state struct{ Status string }
	for range 1200 {
		if s.Get(path, &state); state.Status != "queued" && state.Status != "running" {
			if state.Status != "succeeded" {
				_, text := s.Call("GET", path, "")
				t.Fatalf("%s", text)
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s is still %s", path, state.Status)
}
