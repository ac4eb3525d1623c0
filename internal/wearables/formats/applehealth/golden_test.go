package applehealth

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/storage"
)

// The fixture has one of everything: overlapping sources on the day on which clocks are
// set forward, a night, a run with a route, damage.
func TestGoldenImport(t *testing.T) {
	xml, err := os.ReadFile("testdata/export.xml")
	if err != nil {
		t.Fatal(err)
	}
	gpx, err := os.ReadFile("testdata/route.gpx")
	if err != nil {
		t.Fatal(err)
	}
	name := saveFile(t, zipMembers(t, "apple_health_export/Export.xml", string(xml),
		"apple_health_export/workout-routes/route_2024-03-31_10.00am.gpx", string(gpx)))
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sink, user := createUser(t, db)
		o := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Historical)
		got := map[string]any{
			"types": o.Types, "rejections": o.Rejections, "resources": o.Resources,
			"damaged": o.Damaged, "copies": o.Copies, "truncated": o.Truncated,
			"series": seriesText(t, db, user), "streams": streamText(t, db, user),
		}
		for _, resource := range []string{"activity", "body", "sleep", "sleep_cycle", "workouts", "profile"} {
			got[resource] = removeRunFields(filestest.Summaries(t, db, user, resource))
		}
		filestest.CompareGolden(t, "export.golden.json", got)
	})
}

// removeRunFields removes nulls and the fields that differ from run to run, and sorts the
// documents.
func removeRunFields(all []map[string]any) []map[string]any {
	for _, doc := range all {
		for _, name := range []string{"id", "user_id", "sleep_id", "created_at", "updated_at"} {
			delete(doc, name)
		}
		maps.DeleteFunc(doc, func(_ string, v any) bool { return v == nil })
		if source, ok := doc["source"].(map[string]any); ok {
			doc["source"] = map[string]any{"type": source["type"], "app_id": source["app_id"]}
		}
	}
	slices.SortFunc(all, func(a, b map[string]any) int {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return bytes.Compare(x, y)
	})
	return all
}

// seriesText returns all stored samples as the API writes them, by series.
func seriesText(t *testing.T, db *store.DB, user users.User) map[string]json.RawMessage {
	t.Helper()
	ctx := store.WithTeam(context.Background(), user.Team.UUID())
	text := map[string]json.RawMessage{}
	err := db.Read(ctx, func(tx *store.Tx) error {
		all, err := storage.SeriesOf(ctx, tx, user.Team.UUID(), user.ID.UUID(), "")
		if err != nil {
			return err
		}
		for _, s := range all {
			var samples wearables.Samples
			if err := storage.ReadSeries(ctx, tx, s, 0, 1<<60, &samples); err != nil {
				return err
			}
			name := s.Resource + " " + s.Type + "|" + s.Source.Type + "|" + s.Source.AppID + "|" + s.Source.Sport
			text[name] = wearables.AppendAll(nil, []wearables.Samples{samples})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func streamText(t *testing.T, db *store.DB, user users.User) []json.RawMessage {
	t.Helper()
	ctx := store.WithTeam(context.Background(), user.Team.UUID())
	var text []json.RawMessage
	err := db.Read(ctx, func(tx *store.Tx) error {
		text = nil
		all, err := storage.ListSummaries(ctx, tx, user.Team.UUID(), user.ID.UUID(), storage.SummaryQuery{Resource: "workouts"})
		if err != nil {
			return err
		}
		for i := range all {
			s, err := storage.ReadStream(ctx, tx, &all[i])
			if err != nil {
				return err
			}
			if len(s.Time) > 0 {
				text = append(text, wearables.AppendStream(nil, s))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// This table lists the outcome of each type of the public exports.
func TestGoldenTypesOfPublicExports(t *testing.T) {
	for _, name := range []string{"hkimport-export", "export6s3sample", "dogsheep-export"} {
		t.Run(name, func(t *testing.T) {
			testdata.Shared(t, "wearables/apple-health/"+name+".xml")
			g := gatherFile(t, "wearables/apple-health/"+name+".xml")
			filestest.CompareGolden(t, name+".types.json", g.report.Types)
		})
	}
}
