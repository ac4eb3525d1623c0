package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/wearables"
)

// least are the fields with which a summary of a document is taken.
var least = map[string]map[string]any{
	"activity": {"calendar_date": "2026-02-01"}, "body": {"calendar_date": "2026-02-01"}, "profile": {},
	"sleep":           {"bedtime_start": "2026-02-01T00:00:00Z", "bedtime_stop": "2026-02-01T07:00:00Z"},
	"sleep_cycle":     {"session_start": "2026-02-01T00:00:00Z", "session_end": "2026-02-01T07:00:00Z"},
	"workouts":        {"time_start": "2026-02-01T10:00:00Z", "time_end": "2026-02-01T11:00:00Z"},
	"meal":            {"timestamp": "2026-02-01T12:00:00Z"},
	"menstrual_cycle": {"period_start": "2026-02-01"}, "electrocardiogram": {"session_start": "2026-02-01T10:00:00Z", "session_end": "2026-02-01T10:01:00Z"},
}

// stages belong together.
var stages = map[string]any{"stage_start_offset_second": []int{0}, "stage_end_offset_second": []int{60}, "stage_type": []int{2}}

// sent is a value of a field's schema that is within all bounds.
func sent(field string, s *huma.Schema) any {
	switch {
	case len(s.Enum) > 1 && s.Enum[1] != nil:
		return s.Enum[1]
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Format == "date":
		return "2026-02-02"
	case s.Format == "date-time":
		return "2026-02-01T13:00:00Z"
	case s.Format == "uuid":
		return "0195c0a8-0000-7000-8000-000000000001"
	case s.Type == "array":
		return slices.Repeat([]any{sent(field, s.Items)}, 6)
	case s.Type == "object":
		all := map[string]any{}
		for name, inner := range s.Properties {
			all[name] = sent(name, inner)
		}
		if inner, ok := s.AdditionalProperties.(*huma.Schema); ok {
			all["one"] = sent(field, inner)
		}
		return all
	case s.Type == "string":
		return "UTC"
	case s.Type == "boolean":
		return true
	case field == "value": // °C, among others
		return 36
	case strings.Contains(field, "hr") || strings.Contains(field, "bpm") || strings.Contains(field, "heart_rate") || field == "height":
		return 60
	}
	return 17
}

// pushedItem and readItem are the schemas of a summary on its way in and out.
func pushedItem(d dataDoor, name string) *huma.Schema {
	op := d.api.OpenAPI().Paths["/v2/summary/"+name+"/{user_id}"].Post
	return op.RequestBody.Content["application/json"].Schema.Properties["data"].Items
}

func readItem(d dataDoor, of *wearables.Document) *huma.Schema {
	schema := d.api.OpenAPI().Paths["/v2/summary/"+of.Name+"/{user_id}"].Get.Responses["200"].Content["application/json"].Schema
	if of.Name == "profile" {
		return schema
	}
	return schema.Properties[of.Key].Items
}

// reads pushes a summary for a new user and reads it.
func (d dataDoor) reads(of *wearables.Document, fields map[string]any) map[string]any {
	d.t.Helper()
	d.user = userstest.New(d.t, d.db, d.team.ID, users.NewUser{})
	source, _ := fields["source"].(map[string]any)
	if fields["source_device_id"] != nil || source != nil {
		var device struct{ ID string }
		d.post(d.path("/v2/user/{user_id}/device"), `{"provider":"apple_health_kit","source_type":"watch","device_manufacturer":"Example","device_model":"One"}`, &device)
		if source != nil {
			source["device_id"] = device.ID
		} else {
			fields["source_device_id"] = device.ID
		}
	}
	raw, err := json.Marshal([]any{fields})
	if err != nil {
		d.t.Fatal(err)
	}
	var pushed pushBody
	d.post(d.path("/v2/summary/"+of.Name+"/{user_id}"), pushText(string(raw)), &pushed)
	if pushed.Created != 1 || len(pushed.Rejected) > 0 {
		d.t.Errorf("%s: %s: %+v", of.Name, raw, pushed)
		return nil
	}
	if of.Name == "profile" {
		var one map[string]any
		d.get(d.path("/v2/summary/profile/{user_id}"), &one)
		return one
	}
	var all map[string][]map[string]any
	d.get(d.path("/v2/summary/"+of.Name+"/{user_id}?start_date=2026-01-01"), &all)
	return all[of.Key][0]
}

// What the document says that a push takes is taken, and is read back; what a
// read has beside it is not.
func TestDocumentedFieldsAreTaken(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for name, needed := range least {
			of, _ := wearables.DocumentNamed(name)
			pushed, read := pushedItem(d, name), readItem(d, of)
			base := map[string]any{}
			if of.Dated {
				base = d.reads(of, maps.Clone(needed))
			}
			for field, schema := range pushed.Properties {
				body := maps.Clone(needed)
				if body[field] != nil {
					continue
				}
				if body[field] = sent(field, schema); stages[field] != nil {
					maps.Copy(body, stages)
				}
				if name == "profile" && strings.Contains(field, "source") || field == "product_type" {
					continue // see below
				}
				got := d.reads(of, body)
				if read.Properties[field] == nil {
					if reflect.DeepEqual(got["source"], base["source"]) && field != "timezone_offset" {
						t.Errorf("%s.%s is documented and not taken", name, field)
					}
					continue
				}
				if field != "source" && asJSON(got[field]) != asJSON(body[field]) && (base[field] == nil || reflect.DeepEqual(got[field], base[field])) {
					t.Errorf("%s.%s: %v was sent and %v is read", name, field, body[field], got[field])
				}
			}
			for field, schema := range read.Properties {
				if pushed.Properties[field] != nil || schema.Ref != "" || schema.Type == "null" || !of.Dated {
					continue
				}
				body := maps.Clone(needed)
				if body[field] = sent(field, schema); schema.Format == "date-time" {
					body[field] = "2020-05-05T05:05:05Z"
				}
				if got := d.reads(of, body); strings.TrimSuffix(asJSON(got[field]), `+00:00"`) == strings.TrimSuffix(asJSON(body[field]), `Z"`) {
					t.Errorf("%s.%s is taken and not documented", name, field)
				}
			}
		}
	})
}

func asJSON(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// Without a field that the document requires a summary is refused, and with
// those alone it is taken.
func TestRequiredFieldsOfSummaries(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		if len(least) < len(wearables.Documents())-1 {
			t.Errorf("%d documents of %d", len(least), len(wearables.Documents()))
		}
		for name, fields := range least {
			item := pushedItem(d, name)
			needed := slices.Clone(item.Required)
			slices.Sort(needed)
			if !slices.Equal(needed, slices.Sorted(maps.Keys(fields))) {
				t.Errorf("%s requires %v", name, needed)
			}
			for _, field := range needed {
				if item.Properties[field].Nullable {
					t.Errorf("%s.%s may be null", name, field)
				}
				body := maps.Clone(fields)
				delete(body, field)
				w := d.do("POST", d.path("/v2/summary/"+name+"/{user_id}"), pushText(fmt.Sprintf("[%s]", asJSON(body))))
				if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `0,"`+field+`"]`) {
					t.Errorf("%s without %s: %d %s", name, field, w.Code, w.Body)
				}
			}
			if item.Properties["source_type"] == nil || !slices.Contains(item.Properties["source_type"].Enum, any("chest_strap")) {
				t.Errorf("%s has no source_type", name)
			}
		}
		of, _ := wearables.DocumentNamed("activity")
		if got := d.reads(of, map[string]any{"calendar_date": "2026-02-01", "product_type": "Watch7,1"}); got["source"].(map[string]any)["type"] != "watch" {
			t.Errorf("%v", got["source"])
		}
	})
}
