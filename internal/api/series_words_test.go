package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/wearables"
)

// The further words of samples come in by every door that takes samples, and
// are read back in every shape. One that a field does not have costs its sample
// alone, and the answer names the field.
func TestWordsOfSamplesAreReadBack(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		const head = `{"stage":"daily","provider":"apple_health_kit",`
		path := d.path("/v2/timeseries/{user_id}/body_temperature")
		w := d.do("POST", path, head+`"data":[{"timestamp":"2026-03-01T08:00:00Z","value":37,"sensor_location":"ear"},
			{"timestamp":"2026-03-01T09:00:00Z","value":36,"sensorLocation":"wrist"},{"timestamp":"2026-03-01T10:00:00Z","value":36.5,"sensor_location":null},
			{"timestamp":"2026-03-01T11:00:00Z","value":36.5,"sensor_location":"knee"}]}`)
		d.status(http.StatusOK, w)
		if got, want := w.Body.String(), `"created":3,"updated":0,"unchanged":0,"rejected":[{"reason":"unknown_sensor_location","count":1,"first":3}]`; !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		refused := d.do("POST", path, head+`"data":[{"timestamp":"2026-03-01T08:00:00Z","value":37,"sensor_location":7}]}`)
		d.status(http.StatusUnprocessableEntity, refused)
		if !strings.Contains(refused.Body.String(), `["body","data",0,"sensor_location"]`) {
			t.Error(refused.Body)
		}
		d.status(http.StatusUnprocessableEntity, d.do("POST", d.path("/v2/timeseries/{user_id}/hypnogram"), head+`"data":[]}`))
		d.status(http.StatusOK, d.do("POST", d.path("/v2/timeseries/{user_id}"), head+`"series":{"workout_duration":[
			{"timestamp":"2026-03-01T08:00:00Z","end":"2026-03-01T08:10:00Z","value":10,"intensity":"high"}]}}`))
		d.status(http.StatusOK, d.do("POST", d.path("/v2/user/{user_id}/entries"), `{"data":[{"resource":"insulin_injection",
			"timestamp":"2026-03-01T08:00:00Z","value":4,"type":"rapid_acting","delivery_mode":"bolus","bolus_purpose":"meal"}]}`))
		for read, want := range map[string]string{
			"body_temperature/grouped": `"value":37,"sensor_location":"ear"}`, "body_temperature": `"value":36,"sensor_location":"wrist"}`,
			"body_temperature/merged": `"value":36.5,"sensor_location":null,`, "workout_duration/grouped": `"value":10,"intensity":"high"}`,
			"insulin_injection/grouped": `"value":4,"delivery_mode":"bolus","delivery_form":null,"bolus_purpose":"meal"}`,
		} {
			got := d.do("GET", d.path("/v2/timeseries/{user_id}/")+read+"?start_date=2026-03-01", "")
			if !strings.Contains(got.Body.String(), want) {
				t.Errorf("%s: %s has no %s", read, got.Body, want)
			}
		}
	})
}

// The document lists the words wherever samples are read or sent.
func TestTheDocumentHasTheWords(t *testing.T) {
	all := New(Deps{}).OpenAPI().Components.Schemas.Map()
	for _, name := range []string{"SampleBody", "PieceBody", "PushedSample", "PushedEntry"} {
		s := all[name]
		if s == nil || s.Properties["bolus_purpose"] == nil || len(s.Properties["bolus_purpose"].Enum) != 5 || !s.Properties["bolus_purpose"].Nullable {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The document has of each resource what the table says, and offers where
// samples are sent the resources of which they are taken.
func TestTheDocumentHasTheTable(t *testing.T) {
	doc := New(Deps{}).OpenAPI()
	read, sent := doc.Components.Schemas.Map()["SampleBody"].Description, doc.Components.Schemas.Map()["PushedSample"].Description
	series := doc.Paths["/v2/timeseries/{user_id}/{resource}"]
	for _, r := range wearables.Resources() {
		row := fmt.Sprintf("\n| %s | %s | %s | %s | %s | %s |\n", r.Name, r.Unit, r.Shape(), r.Range(), r.TypeWords(), r.FieldWords())
		if strings.Contains(read, row) == r.Text || strings.Contains(sent, row) != r.Push {
			t.Errorf("no row of %s, or one too many", r.Name)
		}
		for _, offer := range []struct {
			op   *huma.Operation
			want bool
		}{{series.Get, !r.Text}, {doc.Paths["/v2/timeseries/{user_id}/{resource}/grouped"].Get, !r.Text}, {series.Post, r.Push}} {
			if names := resourceParameter(offer.op).Enum; slices.Contains(names, any(r.Name)) != offer.want {
				t.Errorf("%s offers %s: %v", offer.op.OperationID, r.Name, !offer.want)
			}
		}
	}
}

func resourceParameter(op *huma.Operation) *huma.Schema {
	for _, p := range op.Parameters {
		if p.Name == "resource" {
			return p.Schema
		}
	}
	return nil
}
