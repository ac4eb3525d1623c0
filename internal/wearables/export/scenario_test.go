package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/export"
)

// The three formats have the same samples and summaries. A deleted sample is in none.
func TestDeletedSampleIsInNoFormat(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var created struct {
			ID string `json:"user_id"`
		}
		s.Expect(200, "POST", "/v2/user/", `{"client_user_id":"exported"}`, &created)
		user := created.ID
		s.Expect(200, "POST", "/v2/timeseries/"+user+"/heartrate", `{"stage":"daily","provider":"health_connect","data":[
			{"timestamp":"2026-03-01T10:00:00+01:00","value":60},{"timestamp":"2026-03-01T10:01:00+01:00","value":61.5}]}`, nil)
		s.Expect(200, "POST", "/v2/timeseries/"+user+"/blood_pressure", `{"stage":"daily","provider":"health_connect","data":[
			{"timestamp":"2026-03-01T10:00:00Z","systolic":120,"diastolic":80}]}`, nil)
		s.Expect(200, "POST", "/v2/summary/sleep/"+user, `{"stage":"daily","provider":"health_connect","data":[
			{"bedtime_start":"2026-02-28T22:00:00Z","bedtime_stop":"2026-03-01T06:00:00Z","total":25000}]}`, nil)
		s.Expect(200, "DELETE", "/v2/user/"+user+"/data?resource=heartrate&end=2026-03-01T09:00:00Z", "", nil)

		get := func(format string) []byte {
			t.Helper()
			status, body := s.Call("GET", "/v2/user/"+user+"/data/export?provider=health_connect&format="+format, "")
			if status != 200 {
				t.Fatalf("%s: %d %.300s", format, status, body)
			}
			return body
		}
		want := "sleep 2026-02-28T22:00:00+00:00 | blood_pressure 2026-03-01T10:00:00+00:00 120 80 | heartrate 2026-03-01T09:01:00+00:00 61.5"
		lines, err := csv.NewReader(bytes.NewReader(get("csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var fromCSV []string
		for _, l := range lines[1:] {
			if l[1] != "activity" { // follows from the samples
				fromCSV = append(fromCSV, strings.TrimSpace(l[1]+" "+l[10]+" "+l[14]+" "+l[15]))
			}
		}
		if got := strings.Join(fromCSV, " | "); got != want {
			t.Errorf("CSV has %s", got)
		}
		file := get("parquet")
		table, err := parquet.Read[export.Line](bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		var values []float64
		for _, l := range table {
			if l.Resource == "heartrate" {
				values = append(values, *l.Value)
				if *l.Start != 1772355660000000 || *l.Offset != 3600 || l.Unit != "bpm" || l.ID != "" || l.User != user {
					t.Errorf("Parquet has %+v", l)
				}
			}
		}
		if len(values) != 1 || values[0] != 61.5 {
			t.Errorf("Parquet has %v", values)
		}
		found := map[string]string{}
		for line := range strings.Lines(string(get("fhir"))) {
			var o struct {
				ResourceType string
				Code         struct{ Text string }
				Effective    string `json:"effectiveDateTime"`
				Quantity     struct {
					Value float64
					Code  string
				} `json:"valueQuantity"`
				Component []json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &o); err != nil || o.ResourceType != "Observation" {
				t.Fatalf("%v %s", err, line)
			}
			found[o.Code.Text] += line
			if o.Code.Text == "heartrate" && (o.Quantity.Value != 61.5 || o.Quantity.Code != "/min" || o.Effective != "2026-03-01T10:01:00+01:00") {
				t.Errorf("FHIR has %s", line)
			}
			if o.Code.Text == "blood_pressure" && len(o.Component) != 2 {
				t.Errorf("FHIR has %s", line)
			}
		}
		if strings.Count(found["heartrate"], "\n") != 1 || !strings.Contains(found["sleep"], `"text":"total"},"valueQuantity":{"value":25000}`) {
			t.Errorf("FHIR has %v", found)
		}
	})
}
