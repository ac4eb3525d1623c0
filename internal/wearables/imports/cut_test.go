package imports_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/imports"
)

// jsonFixtures are fixtures of all kinds that are JSON, by kind.
var jsonFixtures = map[string][]string{
	"nightscout":     {"nightscout/testdata/treatments.json", "nightscout/testdata/entries.jsonl"},
	"oura":           {"oura/testdata/export.json", "oura/testdata/pages.jsonl"},
	"withings":       {"withings/testdata/replies.jsonl"},
	"ihealth":        {"ihealth/testdata/pages.jsonl"},
	"strava":         {"strava/testdata/export.json", "strava/testdata/list.json", "strava/testdata/beside.jsonl", "strava/testdata/streams.json"},
	"runkeeper":      {"runkeeper/testdata/feed.json", "runkeeper/testdata/activity.json"},
	"suunto":         {"suunto/testdata/workouts.json", "suunto/testdata/days.json"},
	"fitbit":         {"fitbitweb/testdata/replies.jsonl", "fitbitweb/testdata/archive.jsonl"},
	"google_fit":     {"googlefit/testdata/datasets.jsonl", "googlefit/testdata/archive-merged.json"},
	"ultrahuman":     {"ultrahuman/testdata/day.json", "ultrahuman/testdata/days.json"},
	"garmin":         {"garmin/testdata/push.json", "garmin/testdata/connect.json"},
	"polar":          {"polar/testdata/accesslink.json"},
	"health_connect": {"healthconnect/testdata/client.json", "healthconnect/testdata/gateway.json", "healthconnect/testdata/webhook.jsonl"},
}

// oneRecord are fixtures of a single record. A part of such a fixture has no
// record.
var oneRecord = map[string]bool{"strava/testdata/list.json": true, "runkeeper/testdata/activity.json": true}

// The import of a truncated file reads it up to its end, or the refusal says
// that the file ends in the middle. An accepted part has the kind of the
// complete file.
func TestTruncatedFixturesAreReadToTheirEnd(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	defer b.work(b.service)()
	for kind, names := range jsonFixtures {
		for _, name := range names {
			raw := bytes.TrimSpace(provider(t, name))
			for _, share := range []int{3, 50, 67, 99} {
				if read := b.cut(name, kind, raw[:len(raw)*share/100]); read != (share > 3 && !oneRecord[name]) {
					t.Errorf("%d %% of %s: read %t", share, name, read)
				}
			}
		}
	}
	graph := []byte(`{"data":{"connection":{},"graphData":[{"Timestamp":"3/2/2025 10:15:00 AM","type":0,"ValueInMgPerDl":100},{"Timestamp":"3/2/20`)
	if !b.cut("LibreLinkUp", "libreview", graph) || b.cut("LibreLinkUp, less", "libreview", graph[:60]) {
		t.Error("LibreLinkUp is not read to where it ends")
	}
}

// inValues are files that two thirds of leave more than one record, or values
// of one.
var inValues = map[string]bool{
	"polar-metrics-continuous-heart-rate-2025-06-30.json": true, "polar-metrics-continuous-heart-rate-2025-07-03.json": true,
	"garth-daily_heart_rate_get.json": true, "connectstats-strava_stream_2675283580.json": true, "shimmer-sleep-date.json": true,
	"shimmer-activities-date-multiple-in-activities-list.json": true, "open-wearables-test_suunto_import.json": true,
	"open-wearables-test_ultrahuman_data_247.json": true, "librelinkup-graph.json": true, "go_oura-daily_stress-2.json": true,
}

// unknownFiles are files beside the real ones that cannot be imported.
var unknownFiles = map[string]bool{
	"shimmer-sleep-date-range-empty-sleep-list.json": true, "schema-v14.json": true, "librelinkup-connections.json": true,
	"open-wearables-test_sensorbio_247_data.json": true, "stravalib-strava_swagger.json": true,
}

// So are the files that makers and other programs wrote.
func TestTruncatedRealFilesAreReadToTheirEnd(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	defer b.work(b.service)()
	seen, read := 0, 0
	err := filepath.WalkDir(testdata.Shared(t, "wearables"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		whole, err := b.service.Receive(b.ctx, "", bytes.NewReader(raw))
		if err != nil {
			if !unknownFiles[filepath.Base(path)] {
				t.Errorf("%s: %v", filepath.Base(path), err)
			}
			return nil
		}
		whole.Discard()
		seen++
		raw = bytes.TrimSpace(raw)
		if b.cut(filepath.Base(path), whole.Kind, raw[:len(raw)*2/3]) {
			read++
		} else if inValues[filepath.Base(path)] {
			t.Errorf("%s is not read to where it ends", filepath.Base(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen > 0 && read < seen/2 { // the others are one record
		t.Errorf("%d of %d are read to where they end", read, seen)
	}
}

// cut imports a part of a file, with and without the name of its kind. It
// reports whether the part was accepted.
func (b *fixture) cut(name, kind string, raw []byte) bool {
	b.t.Helper()
	_, named := b.service.Receive(b.ctx, kind, bytes.NewReader(raw))
	up, err := b.service.Receive(b.ctx, "", bytes.NewReader(raw))
	if err != nil || named != nil {
		for _, err := range []error{err, named} {
			if err == nil || !strings.Contains(err.Error(), "ends in the middle") {
				b.t.Errorf("%s, %d bytes of it: %v", name, len(raw), err)
			}
		}
		return false
	}
	up.Discard()
	if up.Kind != kind {
		b.t.Errorf("%s, %d bytes of it: taken for %s", name, len(raw), up.Kind)
		return false
	}
	i := b.await(b.upload(raw, false).ID, imports.Succeeded)
	whole := bytes.HasSuffix(raw, []byte("}")) && slices.Contains(strings.Split(name, "."), "jsonl") // between two lines
	if i.Report.Truncated == whole || i.Report.Records == 0 {
		b.t.Errorf("%s, %d bytes of it: %+v", name, len(raw), i.Report)
	}
	return true
}
